/* Own top bar, and operations by group and resource, for Swagger UI. Dark where the browser asks for it. */
'use strict';

const dark = matchMedia('(prefers-color-scheme: dark)');
const applyScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
applyScheme();
dark.addEventListener('change', applyScheme);

const groupsOf = (specJson) => specJson?.get('x-tagGroups')?.toJS() ?? [];

/** Names of the tags whose operations all stand under a finer tag too. */
const coarse = (groups) => new Set(groups.filter(({ name, tags }) => !tags.includes(name)).map(({ name }) => name));

const groupOf = (groups, tag) => groups.find(({ tags }) => tags.includes(tag)) ?? { name: tag, tags: [tag] };

/** Operations with the phrase in their address, name or summary, and whole groups and tags with it in their name. */
function withPhrase(groups, taggedOps, phrase) {
  const wanted = phrase.trim().toLowerCase();
  return taggedOps
    .map((tagged, tag) => {
      if (`${groupOf(groups, tag).name} / ${tag}`.toLowerCase().includes(wanted)) return tagged;
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

/** Tags of the operations that the filter leaves. */
function shownTags({ specSelectors, layoutSelectors, fn }) {
  const listed = specSelectors.taggedOperations();
  const phrase = layoutSelectors.currentFilter();
  return [...(typeof phrase === 'string' && phrase !== '' ? fn.opsFilter(listed, phrase) : listed).keys()];
}

/** A tag below the name of its group, which stands above the first of its tags. */
const GroupedTag = (Tag, system) => (props) => {
  const { createElement } = system.React;
  const groups = groupsOf(system.specSelectors.specJson());
  const { name, tags } = groupOf(groups, props.tag);
  if (tags.length === 1) return createElement('div', { className: 'derbench-group' }, createElement(Tag, props));
  const isFirst = shownTags(system).find((tag) => tags.includes(tag)) === props.tag;
  const heading = isFirst ? createElement('h2', { key: 'group', className: 'derbench-group-name' }, name) : null;
  return createElement('div', null, [heading, createElement(Tag, { ...props, key: 'tag' })]);
};

globalThis.derbenchPages = () => (system) => ({
  components: { Topbar: TopBar(system) },
  wrapComponents: { OperationTag: GroupedTag },
  fn: {
    opsFilter: (taggedOps, phrase) =>
      withPhrase(groupsOf(system.getSystem().specSelectors.specJson()), taggedOps, phrase),
  },
  statePlugins: {
    spec: {
      wrapSelectors: {
        taggedOperations:
          (original, { specSelectors }) =>
          (state, ...rest) => {
            const hidden = coarse(groupsOf(specSelectors.specJson()));
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
