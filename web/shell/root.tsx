import { type ErrorComponentProps, Outlet, useRouter } from '@tanstack/react-router';
import { type ReactNode, Suspense, useEffect } from 'react';
import { useMe } from '../api/data.ts';
import { ApiError } from '../api/client.ts';
import { FileGone, later } from '../api/later.ts';
import { subscribe } from '../api/reach.ts';
import { useSessionGone } from '../api/session-gone.ts';
import { announcerId } from '../browser/announce.ts';
import { Button } from '../components/button.tsx';
import { ErrorPanel } from '../components/error-panel.tsx';
import { MissingPage, Page, Panel } from '../components/page.tsx';
import { TipLayer } from '../components/tip.tsx';
import { Toasts } from '../components/toast.tsx';
import { sharedWords } from '../words/families.ts';
import { useWords } from '../words/family.ts';

const SessionGone = later(
  () => import('./session-gone.tsx'),
  (file) => file.SessionGone,
);

/** Around all pages: overlays and live regions. */
export function Root(): ReactNode {
  const gone = useSessionGone();
  useFocusOnNavigation();
  return (
    <Toasts>
      <Outlet />
      <Suspense>{gone && <SessionGone />}</Suspense>
      <TipLayer />
      <div id={announcerId} role="status" aria-live="polite" className="sr-only" />
    </Toasts>
  );
}

/**
 * After navigation, focuses the page's title; dialogs that an address opens keep their own focus.
 */
function useFocusOnNavigation(): void {
  const router = useRouter();
  useEffect(
    () =>
      router.subscribe('onRendered', ({ pathChanged, fromLocation }) => {
        if (
          !pathChanged ||
          fromLocation === undefined ||
          document.querySelector('[role="dialog"]') !== null
        )
          return;
        document.querySelector('h1')?.focus({ preventScroll: true });
      }),
    [router],
  );
}

export function OperatorFrame(): ReactNode {
  const words = useWords(sharedWords);
  if (useMe().role === 'operator') return <Outlet />;
  const refusal = new ApiError(403, {
    error: { code: 'operator_only', message: '', type: '', param: null, request_id: '' },
  });
  return (
    <Page title={words.nav.operator}>
      <Panel>
        <ErrorPanel error={refusal} />
      </Panel>
    </Page>
  );
}

/** The error of a page that could not be loaded or drawn. */
export function BrokenPage({ error }: ErrorComponentProps): ReactNode {
  if (error instanceof ApiError && error.code === 'not_found') return <MissingPage />;
  return <Broken error={error} />;
}

function Broken({ error }: { readonly error: unknown }): ReactNode {
  const words = useWords(sharedWords);
  const router = useRouter();
  const lost = error instanceof ApiError && error.code === 'offline';
  useEffect(
    () => (lost ? subscribe((back) => back && void router.invalidate()) : undefined),
    [lost, router],
  );
  const reload = () => location.reload();
  return (
    <main className="mx-auto max-w-160 p-6">
      {error instanceof ApiError ? (
        <ErrorPanel error={error} onRetry={reload} />
      ) : (
        <div role="alert" className="flex flex-col items-center gap-3 py-8 text-center">
          <p>{error instanceof FileGone ? words.errors.newVersion : words.errors.broken}</p>
          <Button look="primary" icon="refresh" onClick={reload}>
            {words.errors.reload}
          </Button>
        </div>
      )}
    </main>
  );
}
