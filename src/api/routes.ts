import { type ClientConvention, type Endpoint, type PathParams, fullPath } from './endpoint.ts';

/** Where a request goes. */
export interface RouteMatch {
  /** Undefined: no endpoint has this method and path. */
  readonly endpoint: Endpoint | undefined;
  /** How errors look and where the key is: without an endpoint, as at the nearest path. */
  readonly convention: ClientConvention;
  readonly params: PathParams;
}

interface Route extends RouteMatch {
  readonly endpoint: Endpoint;
  /**
   * The segments of its path, `v1` first: `:name` takes one of a URL's, `*` all that are left, and
   * `*:method` all that are left where they end in `:method`.
   */
  readonly segments: readonly string[];
}

/** The value of a parameter has at most this many characters; that of `*` has no limit. */
const paramCharsMax = 500;
const noParams: PathParams = {};
const methods: ReadonlySet<string> = new Set<Endpoint['method']>(['GET', 'POST', 'DELETE']);

/** Finds the endpoint of a request by its method and URL. */
export class Routes {
  /** By URL, those endpoints with the method POST whose paths have no parameters. */
  readonly posted: ReadonlyMap<string, RouteMatch & { readonly endpoint: Endpoint }>;
  readonly #routes: readonly Route[];
  /** The paths outside `/v1`. */
  readonly #aliases: ReadonlySet<string>;
  readonly #elsewhere: ClientConvention;
  readonly #rootConventions: Readonly<Record<string, ClientConvention>>;

  /**
   * `usual`: the convention of endpoints that name none. `elsewhere`: that of URLs without an
   * endpoint; `rootConventions`: the same by their first segment, where it is another one.
   */
  constructor(
    endpoints: readonly Endpoint[],
    usual: ClientConvention,
    rootConventions: Readonly<Record<string, ClientConvention>> = {},
    elsewhere: ClientConvention = usual,
  ) {
    this.#elsewhere = elsewhere;
    this.#rootConventions = rootConventions;
    const routes = endpoints.flatMap((endpoint) =>
      [fullPath(endpoint), ...(endpoint.aliases ?? [])].map((path): Route => {
        const segments = path.slice(1).split('/');
        const convention = endpoint.convention ?? usual;
        return { endpoint, segments, convention, params: noParams };
      }),
    );
    this.#aliases = new Set(
      endpoints.flatMap(({ aliases = [] }) => aliases).filter((path) => !isApiUrl(path)),
    );
    const fixed = routes.filter(({ endpoint }) => !/[:*]/.test(endpoint.path));
    this.#routes = [...fixed, ...routes.filter((route) => !fixed.includes(route))];
    this.posted = new Map(
      fixed
        .filter(({ endpoint }) => endpoint.method === 'POST')
        .map((route) => [`/${route.segments.join('/')}`, route]),
    );
  }

  /**
   * The endpoint for a URL under `/v1`. HEAD goes where GET goes. Undefined: an endpoint may be
   * meant, but the URL cannot be decoded, or a parameter in it is too long.
   */
  find(method: string, url: string): RouteMatch | undefined {
    const reads = method === 'HEAD' ? 'GET' : method;
    const segments = methods.has(reads) ? segmentsOf(url) : [];
    if (segments === undefined) return undefined;
    for (const route of this.#routes) {
      const isRead = route.endpoint.method === reads;
      const params = isRead ? paramsOf(route.segments, segments) : undefined;
      if (params === undefined) continue;
      const isTooLong = Object.entries(params).some(
        ([name, value]) => name !== '*' && value.length > paramCharsMax,
      );
      return isTooLong ? undefined : { ...route, params };
    }
    return { endpoint: undefined, convention: this.conventionAt(url), params: noParams };
  }

  /** Whether a URL is `/v1`, lies under it, or is another path of an endpoint. */
  serves(url: string): boolean {
    return isApiUrl(url) || this.#aliases.has(pathOfUrl(url));
  }

  /**
   * The methods of the endpoints at a path under `/v1`. `asked`: endpoints that are only for
   * clients of another convention are left out.
   */
  methodsAt(path: string, asked?: ClientConvention): readonly string[] {
    const segments = path.split('/').slice(1);
    return this.#routes
      .filter((route) => {
        const { onlyFor } = route.endpoint;
        if (onlyFor !== undefined && onlyFor !== asked) return false;
        return paramsOf(route.segments, segments) !== undefined;
      })
      .map(({ endpoint }) => endpoint.method);
  }

  /**
   * The convention of a URL without an endpoint: that of the endpoint which it may mean, with this
   * or another method, or of one with a path above it.
   */
  conventionAt(url: string): ClientConvention {
    const meant = meantPath(pathOfUrl(url));
    const ofRoot = this.#rootConventions[/^\/([^/?#]*)/.exec(meant)?.[1] ?? ''];
    if (ofRoot !== undefined) return ofRoot;
    const near = this.#routes.find(
      ({ endpoint: { convention, path } }) =>
        convention !== undefined && `${meant}/`.startsWith(`${fullPath({ path })}/`),
    );
    return near?.convention ?? this.#elsewhere;
  }
}

/** A URL without its query. */
export const pathOfUrl = (url: string): string => url.split('?', 1)[0] ?? url;

/**
 * The path of the endpoint that a wrong path may mean: with one `/v1` where it has none or several,
 * and without a second slash before it and one at its end.
 */
export function meantPath(path: string): string {
  const rest = `/${path.replace(/^\/*(?:v1\/+)*/, '').replace(/\/$/, '')}`;
  return roots.has(rest.split('/', 2)[1] ?? '') ? rest : `/v1${rest}`;
}

/** Whether a URL, in whatever form, is `/v1` or lies under it. Slashes before it do not count. */
const isApiUrl = (url: string): boolean =>
  /^\/v1(?:beta1?)?(?:[/?]|$)/.test(url) || roots.has(segmentsOf(url)?.find(Boolean) ?? '');

/** The first segments of all URLs of the API. `upload` is where clients of Gemini's send files. */
const roots: ReadonlySet<string> = new Set(['v1', 'v1beta', 'v1beta1', 'upload']);

/**
 * The decoded segments of a URL's path, whether the URL begins with the path or with an origin (RFC
 * 9112 §3.2.2). Undefined: they cannot be decoded. Another form has none.
 */
function segmentsOf(url: string): readonly string[] | undefined {
  const path = url.replace(/^https?:\/\/[^/?#]+/i, '').replace(/[?#].*/s, '');
  if (!path.startsWith('/')) return [];
  try {
    return path.slice(1).split('/').map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

/** The values of a route's parameters in these segments of a URL, if they match. None is empty. */
function paramsOf(route: readonly string[], segments: readonly string[]): PathParams | undefined {
  const last = route.at(-1) ?? '';
  const hasRest = last.startsWith('*');
  if (hasRest ? segments.length < route.length : segments.length !== route.length) return undefined;
  const params: Record<string, string> = {};
  for (let i = 0; i < route.length; i += 1) {
    const name = route[i] ?? '';
    const value = segments[i] ?? '';
    if (name.startsWith('*')) {
      const rest = segments.slice(i).join('/');
      const end = name.slice(1);
      if (rest === '' || !rest.endsWith(end)) return undefined;
      params['*'] = rest.slice(0, rest.length - end.length);
    } else if (name.startsWith(':') && value !== '') params[name.slice(1)] = value;
    else if (name !== value) return undefined;
  }
  return params;
}
