/** `...{ a, b }` in an object literal says no more than `a, b`: it only packs several members on one line. */

// spreading calls a getter, so an accessor is a reason to spread
const isAccessor = (member) => member.type === 'Property' && member.kind !== 'init';

/** The members between the braces, comments among them, without the last comma. */
function membersText(source, literal) {
  const last = source.getTokenBefore(source.getLastToken(literal));
  if (last.value === '{') return null;
  const [start, end] = [literal.range[0] + 1, literal.range[1] - 1];
  const text = source.text;
  const members =
    last.value === ',' ? text.slice(start, last.range[0]) + text.slice(last.range[1], end) : text.slice(start, end);
  // a comment to the end of the line would take the comma that follows
  return source.getCommentsInside(literal).some(({ type }) => type === 'Line') ? `${members.trim()}\n` : members.trim();
}

export default {
  meta: {
    type: 'suggestion',
    fixable: 'code',
    schema: [],
    messages: { packed: 'Spread of an object literal: write its members as members of the object around it.' },
  },
  create(context) {
    const check = (spread) => {
      const literal = spread.argument;
      // a literal with a cast says something of its members
      if (literal.type !== 'ObjectExpression' || literal.properties.some(isAccessor)) return;
      const members = membersText(context.sourceCode, literal);
      context.report({
        node: spread,
        messageId: 'packed',
        fix: members === null ? null : (fixer) => fixer.replaceText(spread, members),
      });
    };
    return { 'ObjectExpression > SpreadElement': check };
  },
};
