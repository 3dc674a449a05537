interface SimPainter {
  readonly id: string;
  readonly vendor: string;
  readonly ownedBy: string;
  /** Yuan for one image, or for one megapixel. */
  readonly price: string;
  /** It also edits images. */
  readonly edits: boolean;
}

/**
 * A model of each vendor with an image format of its own, at list prices of November 2026, US
 * dollars at 7.1 yuan.
 */
export const painters: readonly SimPainter[] = [
  {
    id: 'flux-2-pro',
    vendor: 'bfl',
    ownedBy: 'black-forest-labs',
    price: 'megapixel: 0.213',
    edits: true,
  },
  {
    id: 'flux-kontext-pro',
    vendor: 'bfl',
    ownedBy: 'black-forest-labs',
    price: 'image: 0.284',
    edits: true,
  },
  {
    id: 'flux-pro-1.0-fill',
    vendor: 'bfl',
    ownedBy: 'black-forest-labs',
    price: 'image: 0.355',
    edits: true,
  },
  {
    id: 'fal-ai/flux/dev',
    vendor: 'fal',
    ownedBy: 'black-forest-labs',
    price: 'megapixel: 0.1775',
    edits: false,
  },
  {
    id: 'fal-ai/flux-pro/kontext',
    vendor: 'fal',
    ownedBy: 'black-forest-labs',
    price: 'image: 0.284',
    edits: true,
  },
  {
    id: 'black-forest-labs/flux-schnell',
    vendor: 'replicate',
    ownedBy: 'black-forest-labs',
    price: 'image: 0.0213',
    edits: false,
  },
  {
    id: 'stable-image-core',
    vendor: 'stability',
    ownedBy: 'stability',
    price: 'image: 0.213',
    edits: false,
  },
  {
    id: 'sd3.5-large',
    vendor: 'stability',
    ownedBy: 'stability',
    price: 'image: 0.4615',
    edits: true,
  },
  {
    id: 'stable-image-inpaint',
    vendor: 'stability',
    ownedBy: 'stability',
    price: 'image: 0.355',
    edits: true,
  },
  {
    id: 'ideogram-v3',
    vendor: 'ideogram',
    ownedBy: 'ideogram',
    price: 'image: 0.426',
    edits: true,
  },
  {
    id: 'ideogram-v4',
    vendor: 'ideogram',
    ownedBy: 'ideogram',
    price: 'image: 0.426',
    edits: false,
  },
  { id: 'recraftv3', vendor: 'recraft', ownedBy: 'recraft', price: 'image: 0.284', edits: true },
  { id: 'image-01', vendor: 'minimax', ownedBy: 'minimax', price: 'image: 0.02485', edits: false },
  { id: 'cogview-4', vendor: 'zhipu', ownedBy: 'zhipu', price: 'image: 0.06', edits: false },
  { id: 'wan2.2-t2i-flash', vendor: 'qwen', ownedBy: 'qwen', price: 'image: 0.14', edits: false },
  { id: 'gen4_image', vendor: 'runway', ownedBy: 'runway', price: 'image: 0.355', edits: true },
];

/** The base URL paths of vendors that only make images. */
export const paintersAlone: readonly { readonly vendor: string; readonly prefix: string }[] = [
  { vendor: 'bfl', prefix: '/bfl/v1' },
  { vendor: 'fal', prefix: '/fal' },
  { vendor: 'replicate', prefix: '/replicate/v1' },
  { vendor: 'stability', prefix: '/stability' },
  { vendor: 'ideogram', prefix: '/ideogram' },
  { vendor: 'recraft', prefix: '/recraft/v1' },
];

export const painterModelLines = (list: readonly SimPainter[] = painters): string[] =>
  list.map(
    ({ id, ownedBy, price, edits }) =>
      `  - { id: "${id}", owned_by: ${ownedBy}, kind: image, modalities: { in: [text${edits ? ', image' : ''}], out: [image] }, price: { ${price} } }`,
  );

/** `baseUrl`: the simulator's base URL of a vendor. */
export function painterChannelLines(
  baseUrl: (vendor: string) => string,
  keyOf: (vendor: string) => string,
): string[] {
  return [...new Set(painters.map(({ vendor }) => vendor))].map((vendor) => {
    const sold = painters.filter((one) => one.vendor === vendor).map(({ id }) => `"${id}"`);
    return `  - { name: sim-${vendor}-pictures, vendor: ${vendor}, base_url: "${baseUrl(vendor)}", api_key: "${keyOf(vendor)}", groups: [default], models: [${sold.join(', ')}] }`;
  });
}
