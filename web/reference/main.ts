// The page at `/docs`: Scalar's reference of this gateway's own `/openapi.json`. `scalar.js` is the
// component's bundle for browsers. Nothing here or there loads anything from another host.
import { withMembers } from './members.ts';
import { mendReference } from './mend.ts';
import { type OpenApi, withSamples } from './samples.ts';

declare const Scalar: {
  createApiReference(place: string, options: object): void;
};

const chosenTheme = /(?:^|; )tollgate_theme=(light|dark)/.exec(document.cookie)?.[1];

const response = await fetch('/openapi.json');
const description: OpenApi = await response.json();
mendReference(document.body);
Scalar.createApiReference('#reference', {
  content: withSamples(withMembers(description), location.origin),
  ...(chosenTheme !== undefined && { darkMode: chosenTheme === 'dark' }),
  defaultOpenAllTags: false,
  // Each endpoint has samples of its own, with this host filled in.
  hiddenClients: true,
  persistAuth: false,
  // All that would ask another host.
  proxyUrl: '',
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  documentDownloadType: 'none',
});
