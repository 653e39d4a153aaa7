"use client";

import { Accordion, AccordionContent, AccordionItem, AccordionTrigger } from "@/components/ui/accordion";

const questions = [
  {
    question: "Can I try it before I pay?",
    answer:
      "Yes. Everything is open for 14 days, without a card. After that you choose a plan, or stay on the free one.",
  },
  {
    question: "What happens to my data when I leave?",
    answer:
      "You take it with you: one button makes an archive of all of it. Thirty days later we delete our copy for good.",
  },
  {
    question: "Do you have a price for schools and non-profits?",
    answer: "Half of it. Write us two sentences about what you do, and we set it up the same day.",
  },
  {
    question: "Who answers when something breaks?",
    answer: "A person who builds the product. On weekdays within a few hours, on weekends by the next morning.",
  },
];

export function Faq() {
  return (
    <section id="faq" className="mx-auto grid w-full max-w-5xl gap-10 px-6 py-20 md:grid-cols-[1fr_1.6fr]">
      <div>
        <p className="text-sm font-medium text-primary">Questions</p>
        <h2 className="mt-3 text-3xl font-semibold tracking-tight">Good to know before you begin</h2>
        <p className="mt-4 text-sm leading-relaxed text-muted-foreground">
          Not answered here? Write to us, a person reads it.
        </p>
      </div>
      <Accordion type="single" collapsible defaultValue="0" className="rounded-2xl border bg-card px-6">
        {questions.map((one, index) => (
          <AccordionItem key={one.question} value={String(index)}>
            <AccordionTrigger>{one.question}</AccordionTrigger>
            <AccordionContent>{one.answer}</AccordionContent>
          </AccordionItem>
        ))}
      </Accordion>
    </section>
  );
}
