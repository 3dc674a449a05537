import { imageMembers, imagesMax } from '../image-request.ts';
import * as schema from '../schema.ts';

const { prompt, model, ...imageFields } = imageMembers;

/** The fields that the convention has at each endpoint; others are passed on. */
const { moderation: _moderation, style: _style, ...ofGiven } = imageFields;
const { input_fidelity: _fidelity, ...ofGeneration } = imageFields;
const { input_fidelity: _none, ...ofVariations } = ofGiven;

/** Previews come in a stream. */
const previews = schema.onlyWith(
  'partial_images',
  { stream: { const: true } },
  { enum: [null, 0] },
);

const reference = schema.forwarded(
  `An image: a URL, a data URL, or \`{"image_url": …}\`; up to ${imagesMax}.`,
);
const file: schema.Schema = {
  type: 'string',
  format: 'binary',
  description: `PNG, JPEG, WebP or GIF; may be repeated, up to ${imagesMax} times.`,
};

const result = schema.answer(
  {
    created: schema.integer('Unix time in seconds.', 0),
    data: schema.array(
      'One entry per image.',
      schema.answer(
        {},
        {
          url: schema.string('URL of the image; expires after a day.'),
          b64_json: schema.string('The bytes of the image, in base64.'),
          revised_prompt: schema.string('The prompt as the model rewrote it.'),
        },
      ),
    ),
  },
  { usage: schema.object('Tokens, for models priced by tokens.') },
);

const answer: schema.Operation['answer'] = {
  'application/json': schema.ref('ImageResult'),
  'text/event-stream': schema.string('`…partial_image` for previews, `…completed` for each image.'),
};

export const imageOperations: schema.Operations = {
  'POST /images/generations': {
    id: 'createImage',
    tag: 'Images',
    calls: 'model',
    also: ['missing_model', 'too_many_files'],
    summary: 'Generate images',
    schemas: {
      ImageRequest: {
        ...schema.request({ prompt }, { model, ...ofGeneration }),
        allOf: [previews],
      },
      ImageResult: result,
    },
    body: { 'application/json': schema.ref('ImageRequest') },
    answer,
  },
  'POST /images/edits': {
    id: 'editImage',
    tag: 'Images',
    calls: 'model',
    also: ['missing_model', 'too_many_files'],
    summary: 'Edit images',
    schemas: {
      ImageEditForm: schema.request(
        { prompt, image: file },
        {
          model,
          mask: {
            type: 'string',
            format: 'binary',
            description: 'A PNG of the same size, transparent where the image should change.',
          },
          ...ofGiven,
        },
      ),
      ImageEditRequest: {
        ...schema.request(
          { prompt },
          { model, images: reference, image: reference, mask: reference, ...ofGiven },
        ),
        allOf: [previews],
      },
    },
    body: {
      'multipart/form-data': schema.ref('ImageEditForm'),
      'application/json': schema.ref('ImageEditRequest'),
    },
    answer,
  },
  'POST /images/variations': {
    id: 'createImageVariation',
    tag: 'Images',
    calls: 'model',
    also: ['missing_model', 'too_many_files'],
    summary: 'Create variations of an image',
    schemas: {
      ImageVariationForm: schema.request({ image: file }, { model, ...ofVariations }),
      ImageVariationRequest: {
        ...schema.request({}, { model, images: reference, image: reference, ...ofVariations }),
        allOf: [previews],
      },
    },
    body: {
      'multipart/form-data': schema.ref('ImageVariationForm'),
      'application/json': schema.ref('ImageVariationRequest'),
    },
    answer,
  },
};
