export interface Shape { area(): number; }
type Pair = [number, string];
enum Colour { Red, Green }
namespace Geo.Inner {
  export abstract class Circle implements Shape {
    private r: number = 1;
    @Input()
    area(): number {
      return 3 * this.r ** 2;
    }
    abstract x(): void;
  }
}
export const make = <T,>(a: T): T => {
  return a;
};
function over(a: string): void;
function over(a: any) { }
