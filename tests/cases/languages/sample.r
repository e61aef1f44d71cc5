total <- function(net, rate) {
  inner <- function(a) {
    a + 1
  }
  net * rate
}
