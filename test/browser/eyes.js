// Runs in the page (eyes.ts): what somebody who looks at it would find wrong, in words.
(() => {
  const main = document.querySelector('main') ?? document.body;
  const brief = (element) => (element.textContent ?? '').trim().slice(0, 60);
  const seen = (element) => {
    const { width, height } = element.getBoundingClientRect();
    return width > 1 && height > 1 && getComputedStyle(element).visibility !== 'hidden';
  };
  const texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode())
    if (node.data.trim() !== '' && seen(node.parentElement)) texts.push(node);
  const rangeOf = (text, from, to) => {
    const range = document.createRange();
    range.setStart(text, from);
    range.setEnd(text, to);
    return range;
  };
  const boxOf = (text, from = 0, to = text.length) =>
    rangeOf(text, from, to).getBoundingClientRect();

  const isAmount = /^[−+≈ ]*¥/;

  /** Text that ends where its box does, with neither dots nor a way to scroll; amounts with dots, too. */
  function cutOff() {
    return texts.flatMap((text) => {
      const { left, right } = boxOf(text);
      for (
        let box = text.parentElement;
        box !== null && box !== document.body;
        box = box.parentElement
      ) {
        const { overflowX, textOverflow, position } = getComputedStyle(box);
        if (
          position === 'fixed' ||
          overflowX === 'auto' ||
          overflowX === 'scroll' ||
          (textOverflow === 'ellipsis' && !isAmount.test(text.data.trim()))
        )
          return [];
        const inside = box.getBoundingClientRect();
        if (
          overflowX !== 'visible' &&
          inside.width > 1 &&
          (right > inside.right + 1.5 || left < inside.left - 1.5)
        )
          return [`cut off: ${text.data.trim().slice(0, 60)}`];
      }
      return [];
    });
  }

  /**
   * Names that run over what stands beside them: beyond the edges of their own cell, wherever that
   * has been scrolled to.
   */
  function covered() {
    return [...main.querySelectorAll('tr > *')].filter(seen).flatMap((cell) => {
      const box = cell.getBoundingClientRect();
      const boxes = texts.filter((text) => cell.contains(text)).map((text) => boxOf(text));
      const visible =
        cell.querySelector('.truncate') === null && getComputedStyle(cell).overflowX === 'visible';
      return visible &&
        boxes.some(({ left, right }) => right > box.right + 8 || left < box.left - 8)
        ? [`runs over its neighbour: ${brief(cell)}`]
        : [];
    });
  }

  /** The text of columns that have been scrolled below one that stays, and can be seen there. */
  function seenThrough() {
    return [...main.querySelectorAll('tr')].flatMap((row) => {
      const cells = [...row.children].filter(seen);
      const staying = cells.filter((cell) => getComputedStyle(cell).position === 'sticky');
      return staying.flatMap((cell) => {
        const box = cell.getBoundingClientRect();
        const below = texts.filter((text) => {
          if (!row.contains(text) || staying.some((each) => each.contains(text))) return false;
          const { left, right } = boxOf(text);
          return Math.min(right, box.right) - Math.max(left, box.left) > 2;
        });
        const shows = (text) => {
          const { left, right, top, bottom } = boxOf(text);
          const middle = (Math.max(left, box.left) + Math.min(right, box.right)) / 2;
          const topmost = document.elementFromPoint(middle, (top + bottom) / 2);
          return topmost !== null && text.parentElement.contains(topmost);
        };
        return below
          .filter((text) => !isOpaque(cell) || shows(text))
          .map((text) => `is seen through ${brief(cell)}: ${text.data.trim().slice(0, 60)}`);
      });
    });
  }

  const isOpaque = (cell) => {
    const { backgroundColor, opacity } = getComputedStyle(cell);
    const alpha = /(?:rgba\(.*,|\/)\s*([\d.]+)%?\)$/.exec(backgroundColor)?.[1];
    return backgroundColor !== 'transparent' && opacity === '1' && Number(alpha ?? 1) >= 1;
  };

  /** Ids without their middle whose end does not follow the dots. */
  function gapped() {
    return [...main.querySelectorAll('button > span > .truncate + span')].flatMap((end) => {
      const begin = end.previousElementSibling;
      const letter = end.getBoundingClientRect().width / end.textContent.length;
      const before = end.getBoundingClientRect().left - begin.getBoundingClientRect().left;
      const letters = before / letter;
      return begin.scrollWidth > begin.clientWidth && Math.abs(letters - Math.round(letters)) > 0.15
        ? [`a gap after the dots: ${brief(begin)}`]
        : [];
    });
  }

  /** Dates of which a line ends in the middle. */
  function broken() {
    return texts
      .filter((text) => main.contains(text) && text.parentElement.closest('pre, code') === null)
      .flatMap((text) =>
        [...text.data.matchAll(/\d{4}-\d{2}-\d{2}/g)].flatMap(({ 0: date, index }) =>
          rangeOf(text, index, index + date.length).getClientRects().length > 1
            ? [`a broken date: ${date} in ${brief(text)}`]
            : [],
        ),
      );
  }

  const aligned = (cell) =>
    getComputedStyle(cell).textAlign.replace('end', 'right').replace('start', 'left');

  /** Of each column: where the points of its amounts stand, and how header and amounts are aligned. */
  function columnsOf(table) {
    const columns = new Map();
    for (const row of table.rows) {
      let index = 0;
      for (const cell of row.cells) {
        const column = columns.get(index) ?? { points: [], aligned: new Set(), header: '' };
        columns.set(index, column);
        index += cell.colSpan;
        if (cell.colSpan > 1 || !seen(cell)) continue;
        if (row.parentElement.tagName === 'THEAD') {
          column.header = brief(cell);
          if (column.header !== '') column.aligned.add(aligned(cell));
        } else if (isAmount.test(brief(cell))) {
          column.aligned.add(aligned(cell));
          // The first amount of a cell: on a phone another one stands below it. Of different units none stand below each other.
          const amount = brief(cell).includes('/')
            ? undefined
            : texts.find((text) => cell.contains(text) && /\d\.\d/.test(text.data));
          const at = amount?.data.search(/\.\d/) ?? -1;
          if (at >= 0) column.points.push(boxOf(amount, at, at + 1).left);
        }
      }
    }
    return [...columns.values()].filter(({ points }) => points.length > 0);
  }

  function outOfLine() {
    return [...main.querySelectorAll('table')]
      .flatMap(columnsOf)
      .flatMap(({ points, aligned: ways, header }) => [
        ...(Math.max(...points) - Math.min(...points) > 0.5
          ? [`points out of line below ${header}: ${points.map(Math.round).join(' ')}`]
          : []),
        ...(ways.size > 1 ? [`a header that is not above its amounts: ${header}`] : []),
      ]);
  }

  function unsaid() {
    const said = main.innerText;
    // JavaScript writes their sign; `9e4113` is a piece of an id that is wrapped.
    const exponents = said.match(/(?<![\w.-])\d(?:\.\d+)?e[+-]\d+(?![\w.-])/gi) ?? [];
    const primary = [...main.querySelectorAll('button, a')].filter(
      (button) => seen(button) && button.classList.contains('bg-accent'),
    );
    const badges = [...main.querySelectorAll('.rounded-badge')].filter(
      (badge) => seen(badge) && badge.querySelector('svg') !== null,
    );
    // The sign that ends a Chinese sentence has room of its own behind it.
    const gaps = said.match(/.{0,20}[。！？] (?=\S)/g) ?? [];
    return [
      ...gaps.map((end) => `a space after a Chinese sentence: ${end}`),
      ...exponents.map((number) => `an exponent: ${number}`),
      ...(/\d{4}-\d{2}-\d{2} \d{2}:\d{2}/.test(said) && !said.includes('UTC')
        ? ['a time without its zone']
        : []),
      ...(primary.length > 1 ? [`primary buttons: ${primary.map(brief).join(' | ')}`] : []),
      ...badges
        .filter((badge) => brief(badge) === '' && !badge.matches('button, [aria-hidden]'))
        .map(() => 'a status without a word'),
    ];
  }

  function sideways() {
    const { scrollWidth, clientWidth } = document.documentElement;
    return scrollWidth > clientWidth ? [`can be scrolled sideways to ${scrollWidth} px`] : [];
  }

  const faults = [cutOff, covered, seenThrough, gapped, broken, outOfLine, unsaid, sideways];
  return [...new Set(faults.flatMap((find) => find()))];
})();
