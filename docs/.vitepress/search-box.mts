import type { Plugin } from 'vitepress';

/** What VitePress 1.6 gets wrong in its search for assistive technology, and what is right. */
const mends: readonly (readonly [wrong: RegExp, right: string])[] = [
  // A box that holds a field, buttons and links is a dialog, no button.
  [
    /role="button"\s+:aria-owns="[^"]*"\s+aria-expanded="true"\s+aria-haspopup="listbox"/,
    'role="dialog" aria-modal="true"',
  ],
  // What is chosen is the link itself, not an entry around it.
  [
    /:id="'localsearch-item-' \+ index"\s+:aria-selected="[^"]*"\s+role="option"/,
    'role="presentation"',
  ],
  [
    /:aria-label="\[\.\.\.p\.titles, p\.title\]\.join\(' > '\)"/,
    `:id="'localsearch-item-' + index" :aria-selected="selectedIndex === index ? 'true' : 'false'" role="option"`,
  ],
  [/<span class="title-icon">/, '<span class="title-icon" aria-hidden="true">'],
  // Only what has a role can have a name.
  [/<kbd (?=:aria-label)/g, '<kbd role="img" '],
];

/** Mends the component before it is compiled; the build fails when it is not as it was. */
export const accessibleSearch: Plugin = {
  name: 'accessible-search',
  enforce: 'pre',
  transform(source, id) {
    if (!id.endsWith('VPLocalSearchBox.vue')) return undefined;
    return mends.reduce((text, [wrong, right]) => {
      if (text.search(wrong) < 0)
        throw new Error(`The search of VitePress has no ${wrong} any more.`);
      return text.replace(wrong, right);
    }, source);
  },
};
