import { imageFacts, modelLine, readTable } from '../catalog-lines.ts';

/**
 * Models that make images, at list prices of November 2026, US dollars at 7.1 yuan. The vendor has
 * retired the first three ids; they keep their last terms. `=`: the vendor's id is the same;
 * `sees`: it also takes images.
 */
const table = `
  dall-e-3                    openai      openai  gpt-image-2.6-flare          -    image: 0.284, by: { 1024x1024/hd: 0.568, 1024x1792/standard: 0.568, 1792x1024/standard: 0.568, 1024x1792/hd: 0.852, 1792x1024/hd: 0.852 }
  dall-e-2                    openai      openai  gpt-image-2.6-flare          sees image: 0.142, by: { 256x256/standard: 0.1136, 512x512/standard: 0.1278 }
  gpt-image-1                 openai      openai  gpt-image-2.6-flare          sees image: 0.2982, by: { 1536x1024/standard: 0.4473, 1024x1536/standard: 0.4473, 1024x1024/hd: 1.1857, 1536x1024/hd: 1.775, 1024x1536/hd: 1.775 }
  gpt-image-2                 openai      openai  =                            sees input: 35.5, cached_input: 8.875, image_input: 56.8, image_output: 213
  gpt-image-2.6-sunburst      azure       openai  =                            sees input: 35.5, cached_input: 8.875, image_input: 56.8, image_output: 213
  gemini-3-pro-image          gemini      google  =                            sees input: 14.2, cached_input: 1.42, output: 85.2, image_output: 852
  gemini-3.1-flash-lite-image vertex      google  =                            sees input: 1.775, cached_input: 0.1775, output: 10.65, image_output: 213
  imagen-4.0-generate-001     vertex      google  =                            -    image: 0.284
  grok-imagine-image          xai         xai     =                            sees image: 0.142
  grok-imagine-image-2.0      xai         xai     =                            sees image: 0.426, by: { 1K/low: 0.284, 1K/medium: 0.426, 2K/low: 0.426, 2K/medium: 0.568 }
  seedream-4.5                volcengine  doubao  doubao-seedream-4-5-251128   sees image: 0.284
  qwen-image-plus             qwen        qwen    =                            -    image: 0.2
  qwen-image-edit-plus        qwen        qwen    =                            sees image: 0.2
  wan2.6-image                qwen        qwen    =                            sees image: 0.2
  flux-schnell                together    black-forest-labs black-forest-labs/FLUX.1-schnell - megapixel: 0.01917
  flux-1-schnell-fp8          fireworks   black-forest-labs accounts/fireworks/models/flux-1-schnell-fp8 - image: 0.00994
  Kolors                      siliconflow kwai    Kwai-Kolors/Kolors           sees image: 0.1
  google/gemini-3.1-flash-image openrouter google =                            sees input: 3.55, output: 21.3, image_output: 426
`;

export const imageModels = readTable(table, ([sees, ...price]) => ({
  /** It takes images, too. */
  reads: sees === 'sees',
  price: price.join(' '),
}));

/** Their lines in a configuration file. */
export const imageModelLines = (): string[] =>
  imageModels.map((model) => modelLine(model, 'image', imageFacts(model.reads), model.price));
