class Cart extends Base {
  int n = 1;
  Cart(this.n);
  @override
  int total(int a) {
    int inner(int b) { return b; }
    return a;
  }
  int get x => 1;
}
mixin M { }
extension E on Cart { int more() => 1; }
enum K { a }
void main() { print("x"); }
