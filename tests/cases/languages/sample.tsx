export const App: React.FC = () => {
  function inner() {
    return <div className="a">text {1 + 2}</div>;
  }
  return inner();
};
