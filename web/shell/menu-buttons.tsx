import {
  type ButtonHTMLAttributes,
  type ReactElement,
  type ReactNode,
  Suspense,
  cloneElement,
  useCallback,
  useState,
} from 'react';
import { queryClient } from '../api/data.ts';
import { useEvent } from '../api/events.ts';
import { later } from '../api/later.ts';
import { useTheme } from '../browser/theme.ts';
import { IconButton } from '../components/button.tsx';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';

const LanguageMenu = later(
  () => import('./account-menu.tsx'),
  (file) => file.LanguageMenu,
);
const ThemeMenu = later(
  () => import('./account-menu.tsx'),
  (file) => file.ThemeMenu,
);
const AccountMenu = later(
  () => import('./account-menu.tsx'),
  (file) => file.AccountMenu,
);
const Announcements = later(
  () => import('./announcements.tsx'),
  (file) => file.Announcements,
);

export function LanguageButton(): ReactNode {
  const words = useWords(sharedWords);
  const button = <IconButton icon="language" label={words.language.label} size="small" />;
  return (
    <MenuButton button={button} opens="menu" load={LanguageMenu.load}>
      <LanguageMenu trigger={button} />
    </MenuButton>
  );
}

export function ThemeButton(): ReactNode {
  const words = useWords(sharedWords);
  const theme = useTheme();
  const icon = theme === 'light' ? 'sun' : theme === 'dark' ? 'moon' : 'system';
  const button = <IconButton icon={icon} label={words.theme.label} size="small" />;
  return (
    <MenuButton button={button} opens="menu" load={ThemeMenu.load}>
      <ThemeMenu trigger={button} />
    </MenuButton>
  );
}

export function AccountButton({ compact }: { readonly compact: boolean }): ReactNode {
  const words = useWords(sharedWords);
  const button = <IconButton icon="account" label={words.nav.account} size="small" />;
  return (
    <MenuButton button={button} opens="menu" load={AccountMenu.load}>
      <AccountMenu trigger={button} compact={compact} />
    </MenuButton>
  );
}

/** A new announcement shows as a colour and in the button's name. */
export function AnnouncementsButton(): ReactNode {
  const words = useWords(sharedWords);
  const [fresh, setFresh] = useState(0);
  const arrived = useCallback(() => {
    setFresh((count) => count + 1);
    void queryClient.invalidateQueries({ queryKey: ['announcements'] });
  }, []);
  useEvent('announcement', arrived);
  const seen = () => setFresh(0);
  const button = (
    <IconButton
      icon="announcements"
      label={fresh > 0 ? words.announcements.unread(fresh) : words.announcements.label}
      size="small"
      className={fresh > 0 ? 'text-accent' : ''}
    />
  );
  return (
    <MenuButton button={button} opens="dialog" load={Announcements.load} onOpen={seen}>
      <Announcements trigger={button} onOpen={seen} />
    </MenuButton>
  );
}

interface MenuButtonProps {
  readonly button: ReactElement<ButtonHTMLAttributes<HTMLButtonElement>>;
  readonly opens: 'menu' | 'dialog';
  readonly load: () => Promise<unknown>;
  readonly onOpen?: () => void;
  /** The menu, open, with the button in it. */
  readonly children: ReactNode;
}

/**
 * Menus are loaded when their button is pointed at: the first page comes without them. A menu that
 * is late does not open over what was pressed meanwhile.
 */
function MenuButton({ button, opens, load, onOpen, children }: MenuButtonProps): ReactNode {
  const [pressed, setPressed] = useState(false);
  if (pressed) return <Suspense fallback={button}>{children}</Suspense>;
  const prepare = () => void load();
  const open = async () => {
    const elsewhere = new AbortController();
    for (const name of ['keydown', 'pointerdown'])
      addEventListener(name, () => elsewhere.abort(), { once: true, signal: elsewhere.signal });
    await load();
    if (elsewhere.signal.aborted) return;
    elsewhere.abort();
    setPressed(true);
    onOpen?.();
  };
  return cloneElement(button, {
    'aria-haspopup': opens,
    'aria-expanded': false,
    onPointerEnter: prepare,
    onFocus: prepare,
    onClick: () => void open(),
  });
}
