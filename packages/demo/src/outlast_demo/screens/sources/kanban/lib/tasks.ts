export type Column = "ideas" | "next" | "doing" | "done";
export type Tag = "Design" | "Copy" | "Build" | "Research";
export type Task = { id: number; title: string; tag: Tag; column: Column; who: string; talk?: number; due?: string };

export const columns: { id: Column; title: string; dot: string }[] = [
  { id: "ideas", title: "Ideas", dot: "bg-muted-foreground" },
  { id: "next", title: "Next", dot: "bg-chart-3" },
  { id: "doing", title: "In progress", dot: "bg-primary" },
  { id: "done", title: "Done", dot: "bg-chart-2" },
];

export const tags: Record<Tag, string> = {
  Design: "bg-chart-4/15 text-chart-4",
  Copy: "bg-chart-3/15 text-chart-3",
  Build: "bg-chart-1/15 text-chart-1",
  Research: "bg-chart-5/15 text-chart-5",
};

export const firstTasks: Task[] = [
  { id: 1, title: "Short film about the workshop", tag: "Design", column: "ideas", who: "LV", talk: 2 },
  { id: 2, title: "Interview ten customers about their doubts", tag: "Research", column: "ideas", who: "SO" },
  {
    id: 3,
    title: "Press kit with photographs and one good paragraph",
    tag: "Copy",
    column: "next",
    who: "JK",
    due: "22 Apr",
  },
  {
    id: 4,
    title: "Landing page for the waitlist",
    tag: "Build",
    column: "next",
    who: "AM",
    talk: 5,
    due: "24 Apr",
  },
  {
    id: 5,
    title: "Colour of the box, final round",
    tag: "Design",
    column: "doing",
    who: "LV",
    talk: 11,
    due: "Tomorrow",
  },
  { id: 6, title: "Newsletter: why we started over", tag: "Copy", column: "doing", who: "JK", due: "20 Apr" },
  { id: 7, title: "Compare prices with five competitors", tag: "Research", column: "done", who: "SO", talk: 3 },
  { id: 8, title: "Checkout in two steps instead of four", tag: "Build", column: "done", who: "AM" },
];
