import { Link, type LinkComponent, createLink } from '@tanstack/react-router';
import { clsx } from 'clsx';
import type { AnchorHTMLAttributes, ButtonHTMLAttributes, ReactNode, Ref } from 'react';
import { Icon, type IconName } from './icon.tsx';

const looks = {
  primary: 'bg-accent text-on-accent hover:bg-accent-hover',
  secondary: 'border border-edge bg-surface text-text hover:bg-sunken',
  // Text that can be pressed is in the accent colour, as links are.
  ghost: 'text-accent hover:bg-sunken',
  quiet: 'text-muted hover:bg-sunken hover:text-text',
  danger: 'bg-bad text-on-accent hover:bg-bad-hover',
} as const;

const sizes = {
  small: 'h-7 px-2 text-table touch:h-10',
  normal: 'h-8 px-3 text-table touch:h-11',
  large: 'h-11 px-4 text-body',
} as const;

interface Looks {
  readonly look?: keyof typeof looks | undefined;
  readonly size?: keyof typeof sizes | undefined;
}

export function buttonLook({ look = 'secondary', size = 'normal' }: Looks): string {
  return `relative inline-flex shrink-0 items-center justify-center gap-1.5 rounded-control font-medium whitespace-nowrap select-none aria-disabled:opacity-55 ${looks[look]} ${sizes[size]}`;
}

export interface ButtonProps
  extends Looks,
    Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'disabled'> {
  readonly busy?: boolean;
  readonly icon?: IconName;
  readonly ref?: Ref<HTMLButtonElement>;
}

/** One primary button per view. A busy button keeps its width and ignores a second press. */
export function Button({
  look,
  size,
  busy = false,
  icon,
  className,
  children,
  onClick,
  ...rest
}: ButtonProps): ReactNode {
  const still = busy || rest['aria-disabled'] === true;
  return (
    <button
      type="button"
      {...rest}
      className={clsx(buttonLook({ look, size }), className)}
      aria-disabled={still || undefined}
      aria-busy={busy || undefined}
      onClick={still ? (event) => event.preventDefault() : onClick}
    >
      {icon !== undefined && <Icon name={icon} />}
      <span className={clsx('inline-flex items-center gap-1.5', busy && 'opacity-0')}>
        {children}
      </span>
      {busy && <Busy />}
    </button>
  );
}

interface IconButtonProps
  extends Looks,
    Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'disabled' | 'aria-label'> {
  readonly icon: IconName;
  /** Its name for screen readers, and its tooltip. */
  readonly label: string;
  readonly ref?: Ref<HTMLButtonElement>;
}

export function IconButton({
  icon,
  label,
  look = 'quiet',
  size,
  className,
  ...rest
}: IconButtonProps): ReactNode {
  return (
    <button
      type="button"
      data-tip={label}
      {...rest}
      aria-label={label}
      className={clsx(buttonLook({ look, size }), 'aspect-square px-0', className)}
    >
      <Icon name={icon} />
    </button>
  );
}

interface AnchorProps extends Looks, AnchorHTMLAttributes<HTMLAnchorElement> {
  readonly icon?: IconName;
  readonly ref?: Ref<HTMLAnchorElement>;
}

/** A link that looks like a button: sign-in, CSV. */
export function ButtonAnchor({
  look,
  size,
  icon,
  className,
  children,
  ...rest
}: AnchorProps): ReactNode {
  return (
    <a {...rest} className={clsx(buttonLook({ look, size }), className)}>
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </a>
  );
}

/** The same for a page of the console: `<ButtonLink to="/keys/new">`. */
export const ButtonLink: LinkComponent<typeof ButtonAnchor> = createLink(ButtonAnchor);

/** A link in text. */
export const TextLink: typeof Link = Link;
/** Every link that is no button looks like this. */
export const linkLook = 'text-accent underline underline-offset-2 hover:text-accent-hover';
/** The link of a whole row or card: its place tells, too. */
export const rowLinkLook = 'rounded-badge text-accent hover:underline';

function Busy(): ReactNode {
  return (
    <span className="absolute inset-0 grid place-items-center" aria-hidden="true">
      <span className="size-4 rounded-full border-2 border-current border-r-transparent motion-safe:animate-spin" />
    </span>
  );
}

/** Opens the form of something new: the page's primary button, pressed by `c`. */
export function CreateButton(props: Pick<ButtonProps, 'onClick' | 'children'>): ReactNode {
  return <Button look="primary" icon="plus" data-shortcut="create" {...props} />;
}
