/** Hook of the module loader: a style sheet is an empty module, as a page without layout has no use for it. */
export function load(url, context, nextLoad) {
  return url.endsWith('.css') ? { format: 'module', shortCircuit: true, source: '' } : nextLoad(url, context);
}
