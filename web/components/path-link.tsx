import { useRouter } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, MouseEvent, ReactNode, Ref } from 'react';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';
import { linkLook } from './button.tsx';
import { Icon } from './icon.tsx';

interface PathLinkProps extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href'> {
  /**
   * A path of the console with its query, from data: `/usage/req_…`. For fixed pages `Link` checks
   * the path.
   */
  readonly path: string;
  /** Opens beside the page, in a new tab, and shows the sign for it: the page has unsaved work. */
  readonly apart?: boolean;
  readonly ref?: Ref<HTMLAnchorElement>;
}

/**
 * A link that navigates within the console. Its page loads ahead on hover and focus, unless another
 * tab shows it.
 */
export function PathLink({
  path,
  apart = false,
  onClick,
  className = linkLook,
  children,
  ...rest
}: PathLinkProps): ReactNode {
  const router = useRouter();
  const { actions } = useWords(sharedWords);
  const ahead = () =>
    void router.preloadRoute({ to: path.split('?')[0] ?? path }).catch(() => undefined);
  return (
    <a
      {...rest}
      {...(apart
        ? { target: '_blank', rel: 'noopener' }
        : { onPointerEnter: ahead, onFocus: ahead })}
      href={path}
      className={className}
      onClick={(event) => {
        onClick?.(event);
        if (apart || event.defaultPrevented || !isPlain(event)) return;
        event.preventDefault();
        router.history.push(path);
      }}
    >
      {children}
      {apart && (
        // Positioned, so that a row that scrolls also cuts off the hidden text.
        <span className="relative">
          <Icon name="external" className="ml-1 inline size-3.5 shrink-0 align-middle" />
          <span className="sr-only">{actions.newTab}</span>
        </span>
      )}
    </a>
  );
}

/** Other clicks are left to the browser: new tab, new window, download. */
export function isPlain(event: MouseEvent): boolean {
  return event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
}
