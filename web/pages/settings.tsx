import type { ReactNode } from 'react';
import { useMe } from '../api/data.ts';
import { setTheme, themes, useTheme } from '../browser/theme.ts';
import { CopyText } from '../components/copy.tsx';
import { Fact, Facts } from '../components/facts.tsx';
import { Page, Panel } from '../components/page.tsx';
import { Segments } from '../components/segments.tsx';
import { Time, ZoneNote } from '../components/time.tsx';
import { settingsWords, sharedWords } from '../words/families.ts';
import { switchLanguage, useWords } from '../words/family.ts';
import { languages, useLanguage } from '../words/language.ts';
import { AccountForm, ProfileForm } from './settings-forms.tsx';
import { Devices, Identities } from './settings-access.tsx';
import { OwnData } from './settings-data.tsx';

/** One card per setting, each saved by itself. */
export function SettingsPage(): ReactNode {
  const words = useWords(settingsWords);
  const { created_at: since } = useMe();
  return (
    <Page title={words.title} note={<ZoneNote at={since} />}>
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-4">
          <Profile />
          <Panel title={words.account.title}>
            <AccountForm />
          </Panel>
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          <Look />
          <Panel title={words.identities.title}>
            <Identities />
          </Panel>
          <Panel title={words.devices.title} flush>
            <Devices />
          </Panel>
          <Panel title={words.data.title}>
            <OwnData />
          </Panel>
        </div>
      </div>
    </Page>
  );
}

function Profile(): ReactNode {
  const { profile: words } = useWords(settingsWords);
  const me = useMe();
  return (
    <Panel title={words.title}>
      <div className="flex flex-col gap-4">
        <ProfileForm />
        <Facts>
          <Fact name={words.since}>
            <Time at={me.created_at} />
          </Fact>
          <Fact name={words.id}>
            <CopyText text={me.id} label={words.id} />
          </Fact>
        </Facts>
      </div>
    </Panel>
  );
}

/** Stored in this browser: nothing to save. */
function Look(): ReactNode {
  const { look: words } = useWords(settingsWords);
  const shared = useWords(sharedWords);
  const language = useLanguage();
  const theme = useTheme();
  return (
    <Panel title={words.title}>
      <div className="flex flex-col gap-3 text-table">
        <div className="flex flex-wrap items-center justify-between gap-2">
          <span>{words.language}</span>
          <Segments
            label={words.language}
            value={language}
            onChange={(next) => void switchLanguage(next)}
            options={languages.map((each) => [each, shared.language[each]] as const)}
          />
        </div>
        <div className="flex flex-wrap items-center justify-between gap-2">
          <span>{words.theme}</span>
          <Segments
            label={words.theme}
            value={theme}
            onChange={setTheme}
            options={themes.map((each) => [each, shared.theme[each]] as const)}
          />
        </div>
        <p className="text-caption text-muted">{words.here}</p>
      </div>
    </Panel>
  );
}
