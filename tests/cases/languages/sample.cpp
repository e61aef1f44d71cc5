namespace geo {
template <typename T>
class Circle : public Shape {
 public:
  Circle(T r) : r_(r) {}
  ~Circle() {}
  T area() const { auto f = [](int a) { return a; }; return f(1); }
  bool operator==(const Circle& o) const { return true; }
};
}
void geo::Circle::scale(int k) {
  r_ *= k;
}
int main() { return 0; }
struct S { int a; };
