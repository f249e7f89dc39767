/*
 * In the place of the standalone preset of Swagger UI, which brings React a second time: the layout with a top bar. The page of
 * swagger-ui-express loads it by that name.
 */
'use strict';

function StandaloneLayout({ getComponent, getSystem }) {
  const { createElement } = getSystem().React;
  const parts = ['SkipToOperations', 'Topbar', 'BaseLayout'];
  const shown = parts.map((name) => [name, getComponent(name, true)]).filter(([, part]) => part);
  return createElement(
    getComponent('Container'),
    { className: 'swagger-ui' },
    shown.map(([name, part]) => createElement(part, { key: name })),
  );
}

globalThis.SwaggerUIStandalonePreset = () => ({ components: { StandaloneLayout } });
