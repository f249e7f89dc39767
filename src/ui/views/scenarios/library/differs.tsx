/** Why a scenario does not fit this simulator: the first reason, and the others on demand. */
export function Differs({ differs: [first, ...others] }: { readonly differs: readonly string[] }) {
  if (others.length === 0) return <small class="muted differs">{first}</small>;
  return (
    <details class="differs">
      <summary>
        <small>
          {first} <span class="nowrap">and {others.length} more</span>
        </small>
      </summary>
      <ul>
        {others.map((reason) => (
          <li key={reason}>
            <small>{reason}</small>
          </li>
        ))}
      </ul>
    </details>
  );
}
