/* Own top bar and lists of operations by resource for Swagger UI. Dark where the browser asks for it. */
'use strict';

const dark = matchMedia('(prefers-color-scheme: dark)');
const applyScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
applyScheme();
dark.addEventListener('change', applyScheme);

/** Names of the tags whose operations all stand under a finer tag too. */
function coarse(specJson) {
  const groups = specJson?.get('x-tagGroups')?.toJS() ?? [];
  return new Set(groups.filter(({ name, tags }) => !tags.includes(name)).map(({ name }) => name));
}

/** Operations with the phrase in their address, name or summary, and whole tags with it in their name. */
function withPhrase(taggedOps, phrase) {
  const wanted = phrase.trim().toLowerCase();
  return taggedOps
    .map((tagged, tag) => {
      if (tag.toLowerCase().includes(wanted)) return tagged;
      return tagged.update('operations', (operations) =>
        operations.filter((each) => {
          const { summary = '', operationId = '' } = each.get('operation').toJS();
          return `${each.get('method')} ${each.get('path')} ${operationId} ${summary}`.toLowerCase().includes(wanted);
        }),
      );
    })
    .filter((tagged) => tagged.get('operations').size > 0);
}

function TopBar(system) {
  const { createElement } = system.React;
  const link = (href, text) => createElement('a', { href, key: href }, text);
  return () =>
    createElement('header', { className: 'derbench-top' }, [
      createElement('a', { href: '/', key: 'name', className: 'derbench-name' }, 'derbench'),
      link('/#/overview', 'Dashboard'),
      link('/redoc', 'Reference'),
      link('/openapi.json', 'OpenAPI'),
    ]);
}

globalThis.derbenchPages = () => (system) => ({
  components: { Topbar: TopBar(system) },
  fn: { opsFilter: withPhrase },
  statePlugins: {
    spec: {
      wrapSelectors: {
        taggedOperations:
          (original, { specSelectors }) =>
          (state, ...rest) => {
            const hidden = coarse(specSelectors.specJson());
            const listed = original(state, ...rest);
            // with a parameter the selector gives a function of the system
            return typeof listed === 'function'
              ? (...more) => listed(...more).filter((_tagged, tag) => !hidden.has(tag))
              : listed.filter((_tagged, tag) => !hidden.has(tag));
          },
      },
    },
  },
});
