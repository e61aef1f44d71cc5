// what scrolls sideways can be reached and scrolled from the keyboard
function markScrolling() {
  for (const box of document.querySelectorAll("pre, div.output, div.table-wrapper, div.math")) {
    if (box.scrollWidth > box.clientWidth) {
      box.tabIndex = 0;
    } else {
      box.removeAttribute("tabindex");
    }
  }
}
addEventListener("load", markScrolling);
addEventListener("resize", markScrolling);
document.addEventListener("toggle", markScrolling, true);
