import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiError } from './api/client.ts';
import { queryClient } from './api/data.ts';
import { FileGone } from './api/later.ts';
import { router } from './router.tsx';
import './styles/inter.css';
import './styles/console.css';

// The scroll lock behind a dialog writes a style element: it needs the nonce of this response's
// content security policy.
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce;
if (nonce) setNonce(nonce);

const place = document.getElementById('root');
if (place === null) throw new Error('index.html has no #root');
const root = createRoot(place, {
  // These are shown by the page: they are no bugs.
  onCaughtError(error) {
    if (!(error instanceof FileGone || error instanceof ApiError)) reportError(error);
  },
});
const page = (
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>
);
// The frame of index.html stays until the page and its texts are there.
void router.load().then(() => root.render(page));
