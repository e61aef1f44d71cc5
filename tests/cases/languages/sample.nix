{ pkgs }:
let
  f = x: x + 1;
in {
  cart = { total = 1; };
  g = a: b: a;
}
