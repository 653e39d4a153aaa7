/** An example document to try features on. */
export const STARTER = `This is an example. Click any paragraph to write in it, select words to comment on them, or ask the agent to improve a section.

## What we want

The summer release brings the three things that people asked for most:

- [x] Search that understands what you mean
- [ ] Documents that a team and its agents write together
- [ ] A quieter start page

> We would rather ship two of them finished than three half done.

## Who does what

| Part | Who | By |
| --- | --- | --- |
| Search | Ada | 1 May |
| Documents | Grace | 20 May |
| Start page | open | 10 June |

Someone needs to own the start page. Comment on this paragraph and assign the comment to the agent: it suggests who.

## How we measure it

We count how many people come back in the second week. The query is short:

\`\`\`sql
select count(distinct user_id) from visits where week = 2
\`\`\`

## Open questions

1. Do we announce it before or after the conference?
2. Which of the old pages can we remove?
`
