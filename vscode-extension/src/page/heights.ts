// The heights of the rows of a list, as a binary indexed tree.
//
// Invariant: offset(i) is the sum of the heights before i. Reading, changing and appending cost
// log n, so a list of any length scrolls alike.

export class Heights {
  private values: number[] = [];
  private tree: number[] = [0];

  get length(): number {
    return this.values.length;
  }

  get total(): number {
    return this.offset(this.values.length);
  }

  at(index: number): number {
    return this.values[index] ?? 0;
  }

  push(height: number): void {
    this.values.push(height);
    const node = this.values.length;
    // A new node covers the values back to the one before its lowest bit.
    this.tree.push(height + this.offset(node - 1) - this.offset(node - (node & -node)));
  }

  set(index: number, height: number): void {
    const change = height - this.at(index);
    this.values[index] = height;
    for (let node = index + 1; node < this.tree.length; node += node & -node) {
      this.tree[node] = (this.tree[node] ?? 0) + change;
    }
  }

  splice(at: number, remove: number, insert: readonly number[]): void {
    if (at === this.values.length) {
      for (const height of insert) this.push(height);
      return;
    }
    this.values.splice(at, remove, ...insert);
    const values = this.values;
    this.values = [];
    this.tree = [0];
    for (const height of values) this.push(height);
  }

  /** Where the row begins. */
  offset(index: number): number {
    let sum = 0;
    for (let node = index; node > 0; node -= node & -node) sum += this.tree[node] ?? 0;
    return sum;
  }

  /** The row at a height; the last one when it is beyond the end. */
  indexAt(y: number): number {
    let node = 0;
    let rest = y;
    for (let step = 1 << Math.floor(Math.log2(Math.max(1, this.length))); step > 0; step >>= 1) {
      const next = node + step;
      const height = this.tree[next];
      if (height !== undefined && height <= rest) {
        node = next;
        rest -= height;
      }
    }
    return Math.max(0, Math.min(node, this.length - 1));
  }
}
