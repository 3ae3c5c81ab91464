// A list of thousands of rows of which only those in sight are in the document. Heights are guessed until a row
// has been seen.

const GUESS = 74;
const BEYOND = 400; // pixels above and below what is in sight

export class List {
  constructor(scroller, render) {
    this.scroller = scroller;
    this.render = render; // row number → element
    this.sizer = document.createElement("div");
    this.sizer.className = "sizer";
    scroller.replaceChildren(this.sizer);
    this.rows = new Map();
    this.heights = [];
    scroller.addEventListener("scroll", () => this.later(), { passive: true });
    let width = 0;
    new ResizeObserver(() => {
      if (scroller.clientWidth !== width) this.heights.fill(0);
      width = scroller.clientWidth;
      this.refresh();
    }).observe(scroller);
  }

  show(count) {
    this.heights = new Array(count).fill(0);
    this.scroller.scrollTop = 0;
    this.refresh();
  }

  grow(count) {
    while (this.heights.length < count) this.heights.push(0);
    this.later();
  }

  later() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = null;
      this.place();
    });
  }

  // All rows in sight anew, or one of them.
  refresh(row = null) {
    for (const [at, element] of this.rows) {
      if (row === null || at === row) {
        element.remove();
        this.rows.delete(at);
      }
    }
    this.place();
  }

  place() {
    const { scrollTop, clientHeight } = this.scroller;
    for (let pass = 0; pass < 3; pass++) {
      const tops = this.tops();
      this.sizer.style.height = `${tops[tops.length - 1]}px`;
      const first = Math.max(0, upper(tops, scrollTop - BEYOND) - 1);
      const last = Math.min(this.heights.length, upper(tops, scrollTop + clientHeight + BEYOND));
      for (const [at, element] of this.rows) {
        if ((at < first || at >= last) && !element.contains(document.activeElement)) {
          element.remove();
          this.rows.delete(at);
        }
      }
      for (let at = first; at < last; at++) this.add(at);
      let moved = false;
      for (const [at, element] of this.rows) {
        element.style.top = `${tops[at]}px`;
        const height = element.offsetHeight;
        moved ||= height !== (this.heights[at] || GUESS);
        this.heights[at] = height;
      }
      if (!moved) return;
    }
  }

  add(at) {
    if (this.rows.has(at)) return;
    const element = this.render(at);
    element.classList.add("sentence");
    let next = null; // in the order of the text, for those who read without looking
    for (const [other, there] of this.rows) if (other > at && (!next || other < next.at)) next = { at: other, there };
    this.sizer.insertBefore(element, next ? next.there : null);
    this.rows.set(at, element);
  }

  tops() {
    const tops = [0];
    for (const height of this.heights) tops.push(tops[tops.length - 1] + (height || GUESS));
    return tops;
  }

  // Bring a row into sight, and give its element.
  reach(row) {
    const top = this.tops()[row];
    const height = this.heights[row] || GUESS;
    const { scrollTop, clientHeight } = this.scroller;
    if (top < scrollTop) this.scroller.scrollTop = top - 8;
    else if (top + height > scrollTop + clientHeight) this.scroller.scrollTop = top + height - clientHeight + 8;
    this.place();
    return this.rows.get(row);
  }
}

function upper(sorted, value) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}
