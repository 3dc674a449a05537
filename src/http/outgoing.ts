/*
 * What Tollgate's own calls are made with. Import it where the first call is made: a start without
 * undici takes a tenth less processor time. (Imported by name at run time, the bundled package
 * itself has no named exports.)
 */
export { Agent, request } from 'undici';
