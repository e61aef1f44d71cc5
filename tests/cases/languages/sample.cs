namespace Shop.Core {
  [Serializable]
  public class Cart {
    public int Total { get { return 1; } set { } }
    public Cart() { }
    [Test]
    public async Task<int> Add(int a) {
      int Local(int b) { return b; }
      return Local(a);
    }
    ~Cart() { }
  }
  interface IShape { double Area(); }
  struct P { }
  enum E { A }
  record R(int X);
}
