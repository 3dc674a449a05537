/** An attribute that assistive technology would misread, and what is said in its place. */
type Mend = readonly [selector: string, mend: (element: Element) => void];

const mends: readonly Mend[] = [
  // The sidebar's entries are buttons, which are current, not selected.
  [
    'button[aria-selected]:not([role])',
    (entry) => {
      entry.toggleAttribute('aria-current', entry.getAttribute('aria-selected') === 'true');
      entry.removeAttribute('aria-selected');
    },
  ],
  // A button that opens the search is no search, and its words are hidden.
  [
    'button[role="search"]',
    (button) => {
      button.removeAttribute('role');
      button.setAttribute('aria-label', seenText(button));
    },
  ],
  ['aside[role="navigation"]', (sidebar) => sidebar.removeAttribute('role')],
  ['button.scalar-code-copy:not([aria-label])', named('Copy')],
  // Each endpoint has such a region: as landmarks they would have to have different names.
  ['.response-card[role="region"]', (card) => card.setAttribute('role', 'group')],
];

function named(name: string): (element: Element) => void {
  return (element) => element.setAttribute('aria-label', name);
}

/** What a button shows, without the words that only screen readers get. */
function seenText(button: Element): string {
  const words = document.createTreeWalker(button, NodeFilter.SHOW_TEXT);
  const seen: string[] = [];
  for (let node = words.nextNode(); node !== null; node = words.nextNode())
    if (node.parentElement?.closest('.screenreader-only, .sr-only') === null)
      seen.push(node.textContent?.trim() ?? '');
  return seen.filter((word) => word !== '').join(' ');
}

/** Mends what the component gets wrong for assistive technology, whenever it draws. */
export function mendReference(place: HTMLElement): void {
  let waits = false;
  const mendAll = () => {
    waits = false;
    for (const [selector, mend] of mends) place.querySelectorAll(selector).forEach(mend);
  };
  // Once a picture: while the page is built, the component draws hundreds of times.
  const mendLater = () => {
    if (!waits) requestAnimationFrame(mendAll);
    waits = true;
  };
  new MutationObserver(mendLater).observe(place, {
    subtree: true,
    childList: true,
    attributes: true,
    attributeFilter: ['role', 'aria-selected', 'aria-label'],
  });
}
