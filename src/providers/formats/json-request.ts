import type { VendorRequest } from '../adapter.ts';

export const jsonHeaders = { 'content-type': 'application/json' } as const;

type Headers = VendorRequest['headers'];

/** Members of `body` that are undefined are left out. */
export const jsonRequest = (path: string, body: object, headers: Headers = {}): VendorRequest => ({
  path,
  headers: { ...jsonHeaders, ...headers },
  body: Buffer.from(JSON.stringify(body)),
});

const nothing = Buffer.alloc(0);

export const getRequest = (path: string, headers: Headers = {}): VendorRequest => ({
  method: 'GET',
  path,
  headers,
  body: nothing,
});

export const deleteRequest = (path: string, headers: Headers = {}): VendorRequest => ({
  ...getRequest(path, headers),
  method: 'DELETE',
});
