import { createContext, type ReactNode, use } from 'react';
import { createPortal } from 'react-dom';

/** The foot of the dialog around a component: null before it is drawn, undefined outside of any. */
const Place = createContext<HTMLElement | null | undefined>(undefined);
export const FootPlace = Place.Provider;

interface FootProps {
  readonly children: ReactNode;
  /** How the buttons stand on a page. */
  readonly className?: string;
}

/**
 * The buttons of what a dialog shows: in the foot of the dialog, which stays in view while the rest
 * scrolls; on a page they stand where they are written. A submit button in it needs `form`, the id
 * of its form, because a foot is no part of the form.
 */
export function Foot({ children, className = 'flex justify-end gap-2' }: FootProps): ReactNode {
  const place = use(Place);
  if (place === undefined) return <div className={className}>{children}</div>;
  return place && createPortal(children, place);
}
