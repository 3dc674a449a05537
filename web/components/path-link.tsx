import { useRouter } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, MouseEvent, ReactNode, Ref } from 'react';
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

/** A link that navigates within the console; its page loads ahead on hover and focus. */
export function PathLink({
  path,
  apart = false,
  onClick,
  className = linkLook,
  children,
  ...rest
}: PathLinkProps): ReactNode {
  const router = useRouter();
  const ahead = () =>
    void router.preloadRoute({ to: path.split('?')[0] ?? path }).catch(() => undefined);
  return (
    <a
      {...rest}
      {...(apart && { target: '_blank', rel: 'noopener' })}
      href={path}
      className={className}
      onPointerEnter={ahead}
      onFocus={ahead}
      onClick={(event) => {
        onClick?.(event);
        if (apart || event.defaultPrevented || !isPlain(event)) return;
        event.preventDefault();
        router.history.push(path);
      }}
    >
      {children}
      {apart && <Icon name="external" className="ml-1 inline size-3.5 shrink-0 align-middle" />}
    </a>
  );
}

/** Other clicks are left to the browser: new tab, new window, download. */
export function isPlain(event: MouseEvent): boolean {
  return event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
}
