/** Replaces `openapi.ts` in the build. @throws Error always: the build has written the description to a file */
export function describeApi(): never {
  throw new Error('dist/openapi.json is missing: the installation is incomplete');
}
