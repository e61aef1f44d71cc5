package a
class Cart(val n: Int) : Base() {
    companion object {
        fun of(): Cart = Cart(1)
    }
    @Test
    fun total(a: Int): Int {
        fun inner() { }
        return a
    }
    val x: Int
        get() { return 1 }
    init { println("x") }
    constructor() : this(1) { }
}
interface Shape { fun area(): Double }
object Single { }
enum class E { A }
fun main() { println("hi ${1}") }
fun String.ext() = 1
