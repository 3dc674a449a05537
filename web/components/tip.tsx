import { type ReactNode, useEffect, useRef } from 'react';

const gapPx = 6;
const delayMs = 200;

/**
 * The one tooltip of the page. An element with `data-tip="text"` shows it on hover, focus and tap,
 * above dialogs too; so does a text that is cut short. Escape hides it. While it shows, it
 * describes the element to screen readers.
 */
export function TipLayer(): ReactNode {
  const layer = useRef<HTMLDivElement>(null);
  useEffect(() => (layer.current === null ? undefined : attach(layer.current)), []);
  return (
    <div
      ref={layer}
      id="tip"
      role="tooltip"
      popover="manual"
      className="pointer-events-none fixed inset-auto m-0 max-w-80 rounded-control border border-line bg-surface px-2 py-1 text-caption break-words text-text shadow-overlay figures"
    />
  );
}

function attach(layer: HTMLElement): () => void {
  let owner: Element | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const ended = new AbortController();

  const hide = () => {
    clearTimeout(timer);
    owner?.removeAttribute('aria-describedby');
    owner = undefined;
    if (layer.matches(':popover-open')) layer.hidePopover();
  };
  const show = (target: EventTarget | null, waitMs: number) => {
    const next =
      target instanceof Element ? (target.closest('[data-tip]') ?? cutShort(target)) : undefined;
    const text = next?.getAttribute('data-tip') ?? next?.textContent;
    if (next === undefined || !text || next === owner) return;
    hide();
    owner = next;
    timer = setTimeout(() => {
      // Its menu or window is open, and must not be covered.
      if (!next.isConnected || isOpen(next)) return;
      layer.textContent = text;
      layer.showPopover();
      place(layer, next);
      if (!next.hasAttribute('aria-describedby')) next.setAttribute('aria-describedby', layer.id);
    }, waitMs);
  };
  const listen = <Name extends keyof DocumentEventMap>(
    name: Name,
    handler: (event: DocumentEventMap[Name]) => void,
  ) => document.addEventListener(name, handler, { signal: ended.signal, capture: true });
  listen('pointerover', (event) => show(event.target, delayMs));
  listen('pointerout', (event) => {
    // the DOM types give a wider type
    if (owner !== undefined && !owner.contains(event.relatedTarget as Node | null)) hide();
  });
  listen('focusin', (event) => {
    if (event.target instanceof Element && event.target.matches(':focus-visible'))
      show(event.target, 0);
  });
  listen('focusout', hide);
  listen('keydown', (event) => event.key === 'Escape' && hide());
  listen('click', () => owner?.hasAttribute('aria-haspopup') && hide());
  listen('scroll', hide);
  return () => {
    ended.abort();
    hide();
  };
}

const isOpen = (element: Element): boolean => element.getAttribute('aria-expanded') === 'true';

/** The closest element whose text does not fit. */
function cutShort(element: Element): Element | undefined {
  const inside = element.matches('a, button') ? element.querySelector('.truncate') : null;
  return (
    [element.closest('.truncate'), inside].find(
      (each) => each !== null && each.scrollWidth > each.clientWidth,
    ) ?? undefined
  );
}

/** Places the tip above its element, or below where there is no room, within the window. */
function place(layer: HTMLElement, owner: Element): void {
  const around = owner.getBoundingClientRect();
  const { width, height } = layer.getBoundingClientRect();
  const left = Math.min(
    Math.max(gapPx, around.left + around.width / 2 - width / 2),
    document.documentElement.clientWidth - width - gapPx,
  );
  const above = around.top - height - gapPx;
  layer.style.left = `${left}px`;
  layer.style.top = `${above < gapPx ? around.bottom + gapPx : above}px`;
}
