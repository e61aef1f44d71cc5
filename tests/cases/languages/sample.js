import x from "y"; // note
export function top(a) {
  const inner = (b) => {
    return b + `t${a}`;
  };
  return inner;
}
@dec
export default class Cart extends Base {
  #secret = 1;
  handle = async () => {
    await 1;
  };
  static of(x) { return /re/g.test(x); }
  get total() { return 1; }
}
const api = { save: function (x) { return x; }, load(y) { return y; } };
exports.run = function* () {
  yield 1;
};
Foo.prototype.bar = function () { return 1; };
