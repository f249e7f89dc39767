/** A comment is a sentence about a thing in the code: one that opens with a pronoun is about the comment before it. */

const opening = /^[\s*]*(What|Who|Those|This|Such|Whether)\b/i;

export default {
  meta: {
    type: 'suggestion',
    schema: [{ type: 'object', properties: { allow: { type: 'array', items: { type: 'string' } } } }],
    messages: { opening: 'A comment that opens with "{{word}}": name the thing in the code that it is about.' },
  },
  create(context) {
    const allowed = context.options[0]?.allow ?? [];
    const { sourceCode } = context;
    /** A line that goes on with the sentence of the line comment above it. */
    const continues = (comment) => {
      const before = sourceCode.getTokenBefore(comment, { includeComments: true });
      return comment.type === 'Line' && before?.type === 'Line' && before.loc.end.line === comment.loc.start.line - 1;
    };
    return {
      Program() {
        for (const comment of sourceCode.getAllComments()) {
          const word = opening.exec(comment.value)?.[1];
          if (word === undefined || continues(comment)) continue;
          if (allowed.some((text) => comment.value.includes(text))) continue;
          context.report({ loc: comment.loc, messageId: 'opening', data: { word } });
        }
      },
    };
  },
};
