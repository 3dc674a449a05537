import { defineVendor } from '../vendor.ts';

export const vertex = defineVendor({ id: 'vertex', ownedBy: 'google', baseUrl: 'https://aiplatform.googleapis.com', speaks: {} });
