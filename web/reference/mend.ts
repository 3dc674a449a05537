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
      button.setAttribute('aria-label', button.textContent.replace(/\s+/g, ' ').trim());
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

/** Mends what the component gets wrong for assistive technology, whenever it draws. */
export function mendReference(place: HTMLElement): void {
  const mendAll = () => {
    for (const [selector, mend] of mends) place.querySelectorAll(selector).forEach(mend);
  };
  new MutationObserver(mendAll).observe(place, {
    subtree: true,
    childList: true,
    attributes: true,
    attributeFilter: ['role', 'aria-selected', 'aria-label'],
  });
}
