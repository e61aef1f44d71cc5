package a.b;
public class Cart {
    private int n;
    public Cart(int n) { this.n = n; }
    @Override
    public String toString() {
        Runnable r = () -> { run(); };
        return "x" + n;
    }
    interface Shape { double area(); }
    enum Kind { A, B; void f() {} }
    record Point(int x, int y) { Point { } }
    @interface Ann { }
}
