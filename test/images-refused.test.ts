import { afterAll, beforeAll, expect, test } from 'vitest';
import { simConfig } from '../sim/catalog.ts';
import { type Sim, startSim } from '../sim/index.ts';
import { imageOf } from '../sim/media/png.ts';
import { migrations } from '../src/app/schema.ts';
import { type Fresh, onSqlite } from './databases.ts';
import { imageForm, made, sendForm } from './support/images.ts';
import { type Running, startRunning } from './support/running.ts';

let sim: Sim;
beforeAll(async () => {
  sim = await startSim();
});
afterAll(() => sim.close());

const house = imageOf('a house', 64, 48);
const solid = imageOf('solid', 64, 48);
const small = imageOf('small', 32, 32, true);
/** As small as a file as it is large as a picture. */
const bomb = Buffer.from(house);
bomb.writeUInt32BE(60_000, 16);
bomb.writeUInt32BE(60_000, 20);
const flat = Buffer.from(house);
flat.writeUInt32BE(0, 16);
const words = { model: 'dall-e-3', prompt: 'a cat' };
const base64 = house.toString('base64');

/** What is wrong with a body → the parameter that is named, and what the message says. */
const bodies: readonly (readonly [
  what: string,
  body: object,
  param: string | null,
  says: RegExp,
])[] = [
  ['a model without a name', { ...words, model: '' }, 'model', /model/],
  ['no prompt', { model: 'dall-e-3' }, 'prompt', /prompt/],
  ['an empty prompt', { ...words, prompt: '' }, 'prompt', /empty/],
  ['a prompt that is no text', { ...words, prompt: ['a cat'] }, 'prompt', /string/],
  [
    'a prompt that is too long',
    { ...words, prompt: 'x'.repeat(4_001) },
    'prompt',
    /4000 characters/,
  ],
  ['no pictures at all', { ...words, n: 0 }, 'n', />= 1/],
  ['too many pictures', { ...words, n: 11 }, 'n', /<= 10/],
  ['half a picture', { ...words, n: 1.5 }, 'n', /integer/],
  ['n as text', { ...words, n: '2' }, 'n', /number/],
  ['a size that is no text', { ...words, size: 1024 }, 'size', /string/],
  ['a size that is none', { ...words, size: 'large' }, 'size', /1024x1024, 1792x1024, 1024x1792/],
  [
    'a size of another model',
    { ...words, size: '512x512' },
    'size',
    /1024x1024, 1792x1024, 1024x1792/,
  ],
  [
    'a size that no rule allows',
    { model: 'gpt-image-2', prompt: 'x', size: '4096x4096' },
    'size',
    /at most 3840 long/,
  ],
  ['a quality of another model', { ...words, quality: 'low' }, 'quality', /standard, hd/],
  [
    'a format of the answer that is none',
    { ...words, response_format: 'base64' },
    'response_format',
    /url, b64_json/,
  ],
  [
    'a file format that is none',
    { model: 'gpt-image-2', prompt: 'x', output_format: 'bmp' },
    'output_format',
    /png, jpeg, webp/,
  ],
  [
    'a compression beyond all',
    { model: 'gpt-image-2', prompt: 'x', output_compression: 101 },
    'output_compression',
    /<= 100/,
  ],
  [
    'a background that is none',
    { model: 'gpt-image-2', prompt: 'x', background: 'red' },
    'background',
    /transparent/,
  ],
  ['a style that is none', { ...words, style: 'baroque' }, 'style', /vivid, natural/],
  [
    'previews of what is not streamed',
    { model: 'gpt-image-2', prompt: 'x', partial_images: 1 },
    'partial_images',
    /stream/,
  ],
  [
    'too many previews',
    { model: 'gpt-image-2', prompt: 'x', stream: true, partial_images: 4 },
    'partial_images',
    /<= 3/,
  ],
  ['a stream that is neither', { ...words, stream: 'yes' }, 'stream', /boolean/],
];

type Files = Parameters<typeof imageForm>[1];
const forms: readonly (readonly [what: string, files: Files, param: string, says: RegExp])[] = [
  ['no picture', [], 'image', /image/],
  ['an empty file', [['image', Buffer.alloc(0)]], 'image', /empty/],
  ['a text', [['image', Buffer.from('hello, I am a picture')]], 'image', /PNG, JPEG, WebP or GIF/],
  [
    'a page',
    [['image', Buffer.from('<!doctype html><html></html>')]],
    'image',
    /PNG, JPEG, WebP or GIF/,
  ],
  ['half a picture', [['image', house.subarray(0, house.length / 2)]], 'image', /damaged/],
  ['a head without a picture', [['image', house.subarray(0, 40)]], 'image', /damaged/],
  ['a bomb', [['image', bomb]], 'image', /60000 x 60000/],
  ['a picture without pixels', [['image', flat]], 'image', /without pixels/],
  [
    'a mask of another size',
    [
      ['image', house],
      ['mask', small],
    ],
    'mask',
    /64x48, not 32x32/,
  ],
  [
    'a mask without transparency',
    [
      ['image', house],
      ['mask', solid],
    ],
    'mask',
    /transparen/,
  ],
  [
    'a file that is asked for by nobody',
    [
      ['image', house],
      ['picture', house],
    ],
    'picture',
    /image or mask/,
  ],
  [
    'too many pictures',
    Array.from({ length: 17 }, () => ['image[]', house] as const),
    'image',
    /16/,
  ],
];

const references: readonly (readonly [what: string, body: object, param: string, says: RegExp])[] =
  [
    ['no picture', {}, 'image', /image/],
    [
      'an uploaded file',
      { images: [{ file_id: 'file-1' }] },
      'images[0].file_id',
      /no uploaded files/,
    ],
    [
      'an address that is none',
      { images: [{ image_url: 'ftp://example.com/a.png' }] },
      'images[0]',
      /neither/,
    ],
    [
      'a data: URL without base64',
      { images: [{ image_url: 'data:image/png,abc' }] },
      'images[0]',
      /base64/,
    ],
    [
      'base64 that is no picture',
      { images: [{ image_url: 'data:image/png;base64,AAAA' }] },
      'images[0]',
      /PNG, JPEG/,
    ],
    [
      'a private address',
      { images: [{ image_url: 'http://127.0.0.1:1/a.png' }] },
      'images[0]',
      /public internet/,
    ],
    ['a number', { images: [7] }, 'images[0]', /address/],
    [
      'a mask without transparency',
      {
        images: [{ image_url: `data:image/png;base64,${base64}` }],
        mask: { image_url: `data:image/png;base64,${base64}` },
      },
      'mask',
      /transparen/,
    ],
  ];

const untouched = async (running: Running): Promise<void> => {
  expect(sim.requests).toHaveLength(0);
  expect(await running.balance()).toBe('10.00');
  expect(await running.usage()).toHaveLength(0);
  await running.expectBooks();
};

onSqlite((_, __, fresh: Fresh) => {
  const start = async (): Promise<Running> => {
    sim.clear();
    return startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration: simConfig(sim.url),
      yuan: '10',
    });
  };

  test('what is wrong with a request is a 400 that names it and costs nothing', async () => {
    const running = await start();
    for (const [what, body, param, says] of bodies) {
      const reply = await running.post('/v1/images/generations', body);
      const { error } = await made(reply);
      expect([reply.status, error?.param, error?.type], what).toEqual([
        400,
        param,
        'invalid_request_error',
      ]);
      expect(error?.message, what).toMatch(says);
    }
    await untouched(running);
  });

  test('what is wrong with a picture is a 400 that names it and costs nothing', async () => {
    const running = await start();
    for (const [what, files, param, says] of forms) {
      const reply = await sendForm(
        running,
        '/v1/images/edits',
        imageForm({ model: 'gpt-image-2', prompt: 'red' }, files),
      );
      const { error } = await made(reply);
      expect([reply.status, error?.param], what).toEqual([400, param]);
      expect(error?.message, what).toMatch(says);
    }
    for (const [what, body, param, says] of references) {
      const reply = await running.post('/v1/images/edits', {
        model: 'gpt-image-2',
        prompt: 'red',
        ...body,
      });
      const { error } = await made(reply);
      expect([reply.status, error?.param], what).toEqual([400, param]);
      expect(error?.message, what).toMatch(says);
    }
    await untouched(running);
  });

  test('a body that cannot be read is told so', async () => {
    const running = await start();
    const send = (body: string, type: string) =>
      fetch(`${running.url}/v1/images/edits`, {
        method: 'POST',
        headers: { authorization: `Bearer ${running.key}`, 'content-type': type },
        body,
      });
    for (const [body, type] of [
      ['{', 'application/json'],
      ['a=b', 'application/x-www-form-urlencoded'],
      ['nothing', 'multipart/form-data; boundary=x'],
      [
        '--x\r\ncontent-disposition: form-data; name="image"; filename="a.png"\r\n\r\nhalf',
        'multipart/form-data; boundary=x',
      ],
    ] as const)
      expect((await send(body, type)).status, type + body).toBe(400);
    const large = await fetch(`${running.url}/v1/images/edits`, {
      method: 'POST',
      headers: { authorization: `Bearer ${running.key}`, 'content-type': 'application/json' },
      body: `{"model":"gpt-image-2","images":"${'x'.repeat(51 * 1024 * 1024)}"}`,
    });
    expect([large.status, (await made(large)).error?.code]).toEqual([413, 'request_too_large']);
    await untouched(running);
  });

  test('a model that takes no pictures is not given any', async () => {
    const running = await start();
    const blind = await sendForm(
      running,
      '/v1/images/edits',
      imageForm({ model: 'dall-e-3', prompt: 'red' }, [['image', house]]),
    );
    expect([blind.status, (await made(blind)).error?.param]).toEqual([400, 'image']);
    const writer = await sendForm(
      running,
      '/v1/images/edits',
      imageForm({ model: 'gpt-4o-mini', prompt: 'red' }, [['image', house]]),
    );
    expect([writer.status, (await made(writer)).error?.param]).toEqual([400, 'model']);
    await untouched(running);
  });
});
