/** `11,263`, `1.5`: a decimal of any length with separators of thousands. */
export function formatQuantity(quantity: string): string {
  const [whole = '0', fraction] = quantity.split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}
