import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useMe } from '../api/data.ts';
import { send } from '../api/client.ts';
import { setTheme, themes, useTheme } from '../browser/theme.ts';
import { useErrorToast } from '../components/error-panel.tsx';
import { Icon } from '../components/icon.tsx';
import { Menu, MenuChoice, MenuItem, MenuLabel, MenuRule } from '../components/menu.tsx';
import { Badge } from '../components/status-badge.tsx';
import { sharedWords } from '../words/families.ts';
import { switchLanguage, useWords } from '../words/family.ts';
import { languages, useLanguage } from '../words/language.ts';

interface ShellMenuProps {
  readonly trigger: ReactNode;
}

export function LanguageMenu({ trigger }: ShellMenuProps): ReactNode {
  return (
    <Menu trigger={trigger} defaultOpen>
      <LanguageChoice />
    </Menu>
  );
}

export function ThemeMenu({ trigger }: ShellMenuProps): ReactNode {
  return (
    <Menu trigger={trigger} defaultOpen>
      <ThemeChoice />
    </Menu>
  );
}

interface AccountMenuProps extends ShellMenuProps {
  readonly compact: boolean;
}

/** On a phone it includes language and theme. */
export function AccountMenu({ trigger, compact }: AccountMenuProps): ReactNode {
  const words = useWords(sharedWords);
  const me = useMe();
  const navigate = useNavigate();
  const signOut = useSignOut();
  return (
    <Menu trigger={trigger} defaultOpen>
      <MenuLabel>{me.name}</MenuLabel>
      {me.role === 'operator' && (
        <div className="px-2 pb-1">
          <Badge tone="accent" icon="shield">
            {words.nav.operator}
          </Badge>
        </div>
      )}
      <MenuItem icon="settings" onSelect={() => void navigate({ to: '/settings' })}>
        {words.nav.settings}
      </MenuItem>
      <MenuItem asChild>
        <a href="/docs" target="_blank" rel="noreferrer">
          <Icon name="external" className="text-muted" />
          {words.nav.docs}
        </a>
      </MenuItem>
      {compact && (
        <>
          <MenuRule />
          <MenuLabel>{words.language.label}</MenuLabel>
          <LanguageChoice />
          <MenuRule />
          <MenuLabel>{words.theme.label}</MenuLabel>
          <ThemeChoice />
        </>
      )}
      <MenuRule />
      <MenuItem icon="signOut" onSelect={() => void signOut()}>
        {words.nav.signOut}
      </MenuItem>
    </Menu>
  );
}

function LanguageChoice(): ReactNode {
  const words = useWords(sharedWords);
  const value = useLanguage();
  return (
    <MenuChoice
      label={words.language.label}
      value={value}
      options={languages.map((language) => [language, words.language[language]] as const)}
      onChange={(next) => void switchLanguage(next)}
    />
  );
}

function ThemeChoice(): ReactNode {
  const words = useWords(sharedWords);
  const value = useTheme();
  return (
    <MenuChoice
      label={words.theme.label}
      value={value}
      options={themes.map((theme) => [theme, words.theme[theme]] as const)}
      onChange={setTheme}
    />
  );
}

/** Leaves the page only after the server has ended the session. */
function useSignOut(): () => Promise<void> {
  const showError = useErrorToast();
  return async () => {
    try {
      await send('DELETE', 'session');
    } catch (error) {
      return showError(error);
    }
    location.assign('/sign-in');
  };
}
