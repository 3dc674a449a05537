import type { Plugin } from 'vitepress';

type Mends = readonly (readonly [wrong: RegExp, right: string])[];

/** A label that VitePress 1.6 has in English alone; `$label` is in `theme/labels.ts`. */
const label = (text: string): string => `$label('${text}')`;
const shown = (text: string): string => `{{ ${label(text)} }}`;

/** What components of VitePress 1.6 get wrong for assistive technology, and what is right. */
const mends: Readonly<Record<string, Mends>> = {
  'VPSidebar.vue': [[/Sidebar Navigation/, shown('Sidebar Navigation')]],
  'VPNavBarMenu.vue': [[/Main Navigation/, shown('Main Navigation')]],
  'VPNavBarHamburger.vue': [
    [/aria-label="mobile navigation"/, `:aria-label="${label('mobile navigation')}"`],
  ],
  'VPNavBarExtra.vue': [[/label="extra navigation"/, `:label="${label('extra navigation')}"`]],
  'VPDocFooter.vue': [[/(?<=>)Pager(?=<)/, shown('Pager')]],
  'VPLocalSearchBox.vue': [
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
  ],
};

/** Mends components before they are compiled; the build fails when one is not as it was. */
export const accessible: Plugin = {
  name: 'accessible',
  enforce: 'pre',
  transform(source, id) {
    const component = /[^/]*\.vue$/.exec(id)?.[0] ?? '';
    const wanted = mends[component];
    if (wanted === undefined || !id.includes('/theme-default/')) return undefined;
    return wanted.reduce((text, [wrong, right]) => {
      if (text.search(wrong) < 0)
        throw new Error(`${component} of VitePress has no ${wrong} any more.`);
      return text.replace(wrong, right);
    }, source);
  },
};
