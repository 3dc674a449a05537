import { type ReactNode, useEffect } from 'react';
import { useSession } from '../api/data.ts';
import { signInChannel } from '../api/session-gone.ts';
import { usePhone } from '../browser/device.ts';
import { useSearchState } from '../browser/search-state.ts';
import { Banner } from '../components/banner.tsx';
import { ButtonAnchor, linkLook } from '../components/button.tsx';
import { PathLink } from '../components/path-link.tsx';
import { LanguageButton, ThemeButton } from '../shell/menu-buttons.tsx';
import { Mark } from '../shell/sidebar.tsx';
import { signInWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';

const searchDefaults = { next: '/', error: '' };

/** The site's name, and a button for each configured way to sign in. */
export function SignInPage(): ReactNode {
  const words = useWords(signInWords);
  const { site, methods, features } = useSession();
  const [{ next, error }] = useSearchState(searchDefaults);
  const phone = usePhone();
  const offered = methods.filter((method) => method !== 'link');
  return (
    <Frame>
      <Heading title={words.title(site)}>
        <p className="text-muted">{words.promise}</p>
      </Heading>
      {features.demo && (
        <Banner tone="accent">
          <p className="font-medium">{words.demo.title}</p>
          <p className="mt-1">{words.demo.way}</p>
          <p className="mt-1">{words.demo.operator}</p>
        </Banner>
      )}
      {error !== '' && (
        <div role="alert">
          <Banner tone="bad">{words.errors[error] ?? words.errors['refused']}</Banner>
        </div>
      )}
      <div className="flex flex-col gap-2">
        {offered.map((method, index) => (
          <div key={method} className="flex flex-col gap-1">
            <ButtonAnchor
              look={index === 0 ? 'primary' : 'secondary'}
              size="large"
              href={`/auth/${method}/start?next=${encodeURIComponent(ownPath(next))}`}
            >
              {words.methods[method]}
            </ButtonAnchor>
            {method === 'wechat' && !features.demo && (
              <p className="text-caption text-muted">{phone ? words.scanHere : words.scan}</p>
            )}
          </div>
        ))}
        {offered.length === 0 && (
          <div className="rounded-control bg-sunken p-3 text-table">
            <p>{words.none}</p>
            <p className="mt-1 text-muted">{words.link}</p>
          </div>
        )}
      </div>
      <p className="flex flex-wrap gap-x-4 gap-y-1 text-table">
        {features.public_models && <PathLink path="/models">{words.models}</PathLink>}
        <a href="/docs" className={linkLook}>
          {words.docs}
        </a>
      </p>
    </Frame>
  );
}

/** The end of a sign-in in the pop-up: reports to the page that waits, and closes. */
export function SignedInPage(): ReactNode {
  const words = useWords(signInWords);
  useEffect(() => {
    const channel = signInChannel();
    channel.postMessage('signed in');
    channel.close();
    window.close();
  }, []);
  return (
    <Frame>
      <Heading title={words.done} />
    </Frame>
  );
}

function Frame({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <div className="flex min-h-dvh flex-col">
      <header className="flex justify-end gap-1 p-3">
        <LanguageButton />
        <ThemeButton />
      </header>
      <main className="mx-auto flex w-full max-w-[392px] flex-1 flex-col justify-center gap-6 px-4 pb-[14dvh]">
        {children}
      </main>
    </div>
  );
}

function Heading({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ReactNode;
}): ReactNode {
  useEffect(() => {
    document.title = title;
  }, [title]);
  return (
    <div className="flex flex-col gap-1">
      <div className="mb-3">
        <Mark />
      </div>
      <h1 tabIndex={-1} className="text-page font-semibold">
        {title}
      </h1>
      {children}
    </div>
  );
}

/**
 * The path to go to next; one that could lead to another site becomes the home page. The server
 * checks it as well.
 */
function ownPath(next: string): string {
  return /^\/(?![/\\])/.test(next) ? next : '/';
}
