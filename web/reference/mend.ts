/** The dialog is there from the beginning, and hidden until an endpoint is tried. */
const isTrying = (): boolean =>
  document.querySelector('.scalar-client[role="dialog"]')?.checkVisibility() === true;

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
  // Its name leaves out the words that are seen.
  [
    'button.show-more[aria-label^="Show all "]',
    (button) =>
      button.setAttribute(
        'aria-label',
        `${seenText(button)}: ${button.getAttribute('aria-label')?.slice('Show all '.length)}`,
      ),
  ],
  ['aside[role="navigation"]', (sidebar) => sidebar.removeAttribute('role')],
  ['button.scalar-code-copy:not([aria-label])', named('Copy')],
  // Each endpoint has such a region: as landmarks they would have to have different names.
  ['.response-card[role="region"]', (card) => card.setAttribute('role', 'group')],
  // The page has such a landmark as well.
  ['.scalar-client section[aria-label^="Notifications"]', named('Notices of the request')],
  ['button[role="none"]', (button) => button.removeAttribute('role')],
  ['td:nth-of-type(2) .cm-content:not([aria-label])', named('Name')],
  ['td:nth-of-type(3) .cm-content:not([aria-label])', named('Value')],
  ['.cm-content:not([aria-label])', named('Request body')],
  [
    'tr input[type="checkbox"]:not([aria-label])',
    (box) => box.setAttribute('aria-label', `Send ${box.closest('tr')?.id || 'this line'}`),
  ],
  // It controls nothing that is there.
  ['button[class*="copy-button"][aria-controls]', (copy) => copy.removeAttribute('aria-controls')],
  // An answer is scrolled by keyboard, too.
  [
    '.cm-scroller[tabindex="-1"]:not(:has([contenteditable="true"]))',
    (answer) => answer.setAttribute('tabindex', '0'),
  ],
  // What lies behind the dialog that tries an endpoint cannot be reached.
  [
    ':is(.documents, .scalar-api-reference > :is(main, aside))',
    (behind) => behind.toggleAttribute('inert', isTrying()),
  ],
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
    attributeFilter: ['role', 'aria-selected', 'aria-label', 'style'],
  });
}
