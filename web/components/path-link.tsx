import { useRouter } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, MouseEvent, ReactNode, Ref } from 'react';
import { linkLook } from './button.tsx';

export interface PathLinkProps extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href'> {
  /**
   * A path of the console with its query, from data: `/usage/req_…`. For fixed pages `Link` checks
   * the path.
   */
  readonly path: string;
  readonly ref?: Ref<HTMLAnchorElement>;
}

/**
 * A link that navigates within the console. Its page loads ahead on hover and focus, unless another
 * tab shows it.
 */
export function PathLink({
  path,
  target,
  onClick,
  className = linkLook,
  ...rest
}: PathLinkProps): ReactNode {
  const router = useRouter();
  const ahead = () => {
    if (target !== undefined) return;
    void router.preloadRoute({ to: path.split('?')[0] ?? path }).catch(() => undefined);
  };
  return (
    <a
      {...rest}
      href={path}
      target={target}
      className={className}
      onPointerEnter={ahead}
      onFocus={ahead}
      onClick={(event) => {
        onClick?.(event);
        if (target !== undefined || event.defaultPrevented || !isPlain(event)) return;
        event.preventDefault();
        router.history.push(path);
      }}
    />
  );
}

/** Other clicks are left to the browser: new tab, new window, download. */
export function isPlain(event: MouseEvent): boolean {
  return event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
}
