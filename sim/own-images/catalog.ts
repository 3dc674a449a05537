import { imageFacts, modelLine, readTable } from '../catalog-lines.ts';

/**
 * A model of each vendor with an image format of its own, at list prices of November 2026, US
 * dollars at 7.1 yuan: for one image, or for one megapixel. `sees`: it also edits images.
 */
const table = `
  flux-2-pro                     bfl       black-forest-labs = sees megapixel: 0.213
  flux-kontext-pro               bfl       black-forest-labs = sees image: 0.284
  flux-pro-1.0-fill              bfl       black-forest-labs = sees image: 0.355
  fal-ai/flux/dev                fal       black-forest-labs = -    megapixel: 0.1775
  fal-ai/flux-pro/kontext        fal       black-forest-labs = sees image: 0.284
  black-forest-labs/flux-schnell replicate black-forest-labs = -    image: 0.0213
  stable-image-core              stability stability         = -    image: 0.213
  sd3.5-large                    stability stability         = sees image: 0.4615
  stable-image-inpaint           stability stability         = sees image: 0.355
  ideogram-v3                    ideogram  ideogram          = sees image: 0.426
  ideogram-v4                    ideogram  ideogram          = -    image: 0.426
  recraftv3                      recraft   recraft           = sees image: 0.284
  image-01                       minimax   minimax           = -    image: 0.02485
  cogview-4                      zhipu     zhipu             = -    image: 0.06
  wan2.2-t2i-flash               qwen      qwen              = -    image: 0.14
  gen4_image                     runway    runway            = sees image: 0.355
`;

export const ownImageModels = readTable(table, ([sees, ...price]) => ({
  edits: sees === 'sees',
  price: price.join(' '),
}));

/** The base URL paths of vendors that only make images. */
export const imagesAlone: readonly { readonly vendor: string; readonly prefix: string }[] = [
  { vendor: 'bfl', prefix: '/bfl/v1' },
  { vendor: 'fal', prefix: '/fal' },
  { vendor: 'replicate', prefix: '/replicate/v1' },
  { vendor: 'stability', prefix: '/stability' },
  { vendor: 'ideogram', prefix: '/ideogram' },
  { vendor: 'recraft', prefix: '/recraft/v1' },
];

/** Their lines in a configuration file. */
export const ownImageModelLines = (): string[] =>
  ownImageModels.map((model) => modelLine(model, 'image', imageFacts(model.edits), model.price));
