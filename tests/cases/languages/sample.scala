package a
class Cart(n: Int) extends Base {
  def total(a: Int): Int = {
    def inner() = 1
    a
  }
  val f = (x: Int) => x
}
object Cart { def of = 1 }
trait Shape { def area: Double }
case class P(x: Int)
enum E { case A }
